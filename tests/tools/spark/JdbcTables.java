import java.util.HashMap;
import java.util.Map;
import java.util.Scanner;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.jdbc.JdbcCatalog;
import org.apache.iceberg.types.Types;

/**
 * What Iceberg Java's JDBC catalog sees and does. JdbcTables URI WAREHOUSE NAME [USER], with a command
 * on each line of standard input, whose answer is a line that begins with the command's name:
 *
 * list; create TABLE VERSION; append TABLE FILE ROWS; rows TABLE; rename TABLE TO; drop TABLE
 */
public class JdbcTables {
  private static final Schema SCHEMA = new Schema(
      Types.NestedField.optional(1, "id", Types.LongType.get()),
      Types.NestedField.optional(2, "name", Types.StringType.get()));

  private final JdbcCatalog catalog = new JdbcCatalog();

  public static void main(String[] arguments) throws Exception {
    JdbcTables program = new JdbcTables();
    Map<String, String> properties = new HashMap<>();
    properties.put("uri", arguments[0]);
    properties.put("warehouse", arguments[1]);
    properties.put("jdbc.schema-version", "V1");
    properties.put("io-impl", "org.apache.iceberg.hadoop.HadoopFileIO");
    if (arguments.length > 3) {
      properties.put("jdbc.user", arguments[3]);
      properties.put("jdbc.password", "");
    }
    program.catalog.setConf(new Configuration());
    program.catalog.initialize(arguments[2], properties);
    Scanner lines = new Scanner(System.in);
    while (lines.hasNextLine()) {
      String[] words = lines.nextLine().split(" ");
      System.out.println(words[0] + " " + program.answer(words));
    }
    program.catalog.close();
  }

  private String answer(String[] words) throws Exception {
    switch (words[0]) {
      case "list":
        return list(Namespace.empty()).trim();
      case "create":
        return create(TableIdentifier.parse(words[1]), words[2]);
      case "append":
        return append(TableIdentifier.parse(words[1]), words[2], Long.parseLong(words[3]));
      case "rows":
        return rows(TableIdentifier.parse(words[1]));
      case "rename":
        catalog.renameTable(TableIdentifier.parse(words[1]), TableIdentifier.parse(words[2]));
        return words[2];
      case "drop":
        return Boolean.toString(catalog.dropTable(TableIdentifier.parse(words[1]), false));
      default:
        throw new IllegalArgumentException(words[0]);
    }
  }

  private String list(Namespace parent) {
    StringBuilder found = new StringBuilder();
    if (!parent.isEmpty()) {
      for (TableIdentifier table : catalog.listTables(parent)) {
        found.append(table).append(' ');
      }
    }
    for (Namespace inner : catalog.listNamespaces(parent)) {
      found.append(list(inner));
    }
    return found.toString();
  }

  private String create(TableIdentifier name, String version) {
    if (!catalog.namespaceExists(name.namespace())) {
      catalog.createNamespace(name.namespace());
    }
    Map<String, String> properties = new HashMap<>();
    properties.put("format-version", version);
    return catalog.createTable(name, SCHEMA, PartitionSpec.unpartitioned(), null, properties).location();
  }

  private String append(TableIdentifier name, String file, long rows) throws Exception {
    Table table = catalog.loadTable(name);
    DataFile added = DataFiles.builder(table.spec()).withPath("file://" + file)
        .withFileSizeInBytes(new java.io.File(file).length()).withRecordCount(rows).build();
    table.newAppend().appendFile(added).commit();
    return Long.toString(table.currentSnapshot().snapshotId());
  }

  private String rows(TableIdentifier name) throws Exception {
    long count = 0;
    Table table = catalog.loadTable(name);
    try (CloseableIterable<FileScanTask> tasks = table.newScan().planFiles()) {
      for (FileScanTask task : tasks) {
        count += task.file().recordCount();
      }
    }
    return Long.toString(count);
  }
}

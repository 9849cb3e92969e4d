import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.StaticTableOperations;
import org.apache.iceberg.Table;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.hadoop.HadoopFileIO;
import org.apache.iceberg.io.CloseableIterable;

/**
 * Plans a scan with the library that Spark plans with. Usage: PlanIceberg METADATA LOW HIGH RUNS,
 * for LOW &lt;= id &lt; HIGH. Prints the files, the seconds of the first plan and the least of all.
 */
public class PlanIceberg {
  public static void main(String[] args) throws Exception {
    long low = Long.parseLong(args[1]);
    long high = Long.parseLong(args[2]);
    double first = 0;
    double least = Double.MAX_VALUE;
    long files = 0;
    for (int run = 0; run < Integer.parseInt(args[3]); run++) {
      long start = System.nanoTime();
      Table table = new BaseTable(
          new StaticTableOperations(args[0], new HadoopFileIO(new Configuration())), "t");
      files = 0;
      try (CloseableIterable<FileScanTask> tasks = table.newScan()
          .filter(Expressions.and(Expressions.greaterThanOrEqual("id", low),
              Expressions.lessThan("id", high)))
          .planFiles()) {
        for (FileScanTask task : tasks) {
          files++;
        }
      }
      double seconds = (System.nanoTime() - start) / 1e9;
      first = run == 0 ? seconds : first;
      least = Math.min(least, seconds);
    }
    System.out.println(String.format(Locale.ROOT, "%d %.3f %.3f", files, first, least));
  }
}

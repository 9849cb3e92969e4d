// Prints the rows of Parquet files as parquet-java reads them, as JSON lines: for each file a line with its
// path, then a line a row. Decimals, dates and times are text, bytes are hex, a map is a list of
// {"key", "value"}, floats that JSON lacks are "NaN", "Infinity", "-Infinity".
//
// java -cp JARS Rows.java FILE...

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.HexFormat;
import java.util.UUID;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.hadoop.ParquetReader;
import org.apache.parquet.hadoop.example.GroupReadSupport;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.*;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.Type;

class Rows {
    static final StringBuilder out = new StringBuilder();

    public static void main(String[] files) throws IOException {
        PrintStream to = new PrintStream(new BufferedOutputStream(System.out), false, "UTF-8");
        for (String file : files) {
            quoted(file);
            flush(to);
            try (ParquetReader<Group> reader = ParquetReader.builder(new GroupReadSupport(), new Path(file)).build()) {
                for (Group row = reader.read(); row != null; row = reader.read()) {
                    struct(row);
                    flush(to);
                }
            }
        }
        to.flush();
    }

    static void flush(PrintStream to) {
        to.append(out).append('\n');
        out.setLength(0);
    }

    // ---- nesting ----

    static void struct(Group group) {
        GroupType type = group.getType();
        out.append('{');
        for (int i = 0; i < type.getFieldCount(); i++) {
            out.append(i == 0 ? "" : ", ");
            quoted(type.getFieldName(i));
            out.append(": ");
            if (group.getFieldRepetitionCount(i) == 0) {
                out.append("null");
            } else {
                value(group, i, 0);
            }
        }
        out.append('}');
    }

    static void value(Group group, int field, int index) {
        Type type = group.getType().getType(field);
        if (type.isPrimitive()) {
            primitive(group, field, index, type.asPrimitiveType());
            return;
        }
        Group inner = group.getGroup(field, index);
        if (type.getLogicalTypeAnnotation() instanceof ListLogicalTypeAnnotation) {
            items(inner, false);
        } else if (type.getLogicalTypeAnnotation() instanceof MapLogicalTypeAnnotation) {
            items(inner, true);
        } else {
            struct(inner);
        }
    }

    // The repeated group of a list has one field, that of a map two, which are the entry.
    static void items(Group list, boolean isMap) {
        out.append('[');
        for (int i = 0; i < list.getFieldRepetitionCount(0); i++) {
            out.append(i == 0 ? "" : ", ");
            Group item = list.getGroup(0, i);
            if (isMap) {
                struct(item);
            } else if (item.getFieldRepetitionCount(0) == 0) {
                out.append("null");
            } else {
                value(item, 0, 0);
            }
        }
        out.append(']');
    }

    // ---- values ----

    static void primitive(Group group, int field, int index, PrimitiveType type) {
        LogicalTypeAnnotation is = type.getLogicalTypeAnnotation();
        switch (type.getPrimitiveTypeName()) {
            case BOOLEAN -> out.append(group.getBoolean(field, index));
            case INT32 -> integer(group.getInteger(field, index), is);
            case INT64 -> integer(group.getLong(field, index), is);
            case FLOAT -> real(group.getFloat(field, index));
            case DOUBLE -> real(group.getDouble(field, index));
            case INT96 -> quoted(HexFormat.of().formatHex(group.getInt96(field, index).getBytes()));
            default -> bytes(group.getBinary(field, index), type);
        }
    }

    static void real(double v) {
        if (Double.isFinite(v)) {
            out.append(v);
        } else {
            quoted(Double.toString(v));
        }
    }

    static void integer(long v, LogicalTypeAnnotation is) {
        if (is instanceof DecimalLogicalTypeAnnotation d) {
            quoted(BigDecimal.valueOf(v, d.getScale()).toPlainString());
        } else if (is instanceof DateLogicalTypeAnnotation) {
            quoted(LocalDate.ofEpochDay(v).toString());
        } else if (is instanceof TimeLogicalTypeAnnotation t) {
            moment(v, t.getUnit(), false, true);
        } else if (is instanceof TimestampLogicalTypeAnnotation t) {
            moment(v, t.getUnit(), t.isAdjustedToUTC(), false);
        } else if (is instanceof IntLogicalTypeAnnotation i && !i.isSigned()) {
            out.append(i.getBitWidth() == 64 ? Long.toUnsignedString(v) : Long.toString(v & 0xFFFFFFFFL));
        } else {
            out.append(v);
        }
    }

    static void moment(long v, TimeUnit unit, boolean zone, boolean onlyTime) {
        int digits = unit == TimeUnit.MILLIS ? 3 : unit == TimeUnit.MICROS ? 6 : 9;
        long per = (long) Math.pow(10, digits);
        LocalDateTime at = LocalDateTime.ofEpochSecond(Math.floorDiv(v, per), 0, ZoneOffset.UTC);
        String date = onlyTime ? "" : at.toLocalDate() + "T";
        String time = String.format("%02d:%02d:%02d", at.getHour(), at.getMinute(), at.getSecond());
        String fraction = String.format(".%0" + digits + "d", Math.floorMod(v, per));
        quoted(date + time + fraction + (zone ? "+00:00" : ""));
    }

    static void bytes(Binary binary, PrimitiveType type) {
        byte[] v = binary.getBytes();
        LogicalTypeAnnotation is = type.getLogicalTypeAnnotation();
        if (is instanceof StringLogicalTypeAnnotation) {
            quoted(new String(v, StandardCharsets.UTF_8));
        } else if (is instanceof DecimalLogicalTypeAnnotation d) {
            quoted(new BigDecimal(new BigInteger(v), d.getScale()).toPlainString());
        } else if (is instanceof UUIDLogicalTypeAnnotation) {
            ByteBuffer halves = ByteBuffer.wrap(v);
            quoted(new UUID(halves.getLong(), halves.getLong()).toString());
        } else if (is instanceof Float16LogicalTypeAnnotation) {
            real(Float.parseFloat(type.stringifier().stringify(binary)));
        } else {
            quoted(HexFormat.of().formatHex(v));
        }
    }

    static void quoted(String text) {
        out.append('"');
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\' || c < ' ') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}

// Iceberg's own Java client, asked line by line: load NAME | list NAMESPACE | append NAME | quit. Answers nanoseconds.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Map;
import java.util.UUID;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.rest.RESTCatalog;

public class RestTurns {
  public static void main(String[] args) throws Exception {
    RESTCatalog catalog = new RESTCatalog();
    catalog.initialize("java", Map.of("uri", args[0], "io-impl", "org.apache.iceberg.hadoop.HadoopFileIO"));
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    Table held = null;
    for (String line = in.readLine(); line != null && !line.equals("quit"); line = in.readLine()) {
      String[] words = line.split(" ");
      long started = System.nanoTime();
      switch (words[0]) {
        case "load" -> catalog.loadTable(TableIdentifier.parse(words[1])).snapshots().iterator().hasNext();
        case "list" -> catalog.listTables(Namespace.of(words[1])).size();
        case "append" -> {
          if (held == null || !held.name().endsWith(words[1])) {
            held = catalog.loadTable(TableIdentifier.parse(words[1]));
            started = System.nanoTime();
          }
          held.newFastAppend()
              .appendFile(DataFiles.builder(held.spec()).withPath(held.location() + "/data/" + UUID.randomUUID() + ".parquet")
                  .withFormat("parquet").withFileSizeInBytes(1000).withRecordCount(1).build())
              .commit();
        }
        default -> throw new IllegalArgumentException(line);
      }
      System.out.println("= " + (System.nanoTime() - started));
      System.out.flush();
    }
    catalog.close();
  }
}

// Iceberg's own Java client, asked line by line: load NAME | list NAMESPACE | append NAME | several NAME | writers NAME | quit. Answers nanoseconds.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.rest.RESTCatalog;

public class RestTurns {
  private static void commit(Table table, int times) {
    for (int i = 0; i < times; i++) {
      table.newFastAppend()
          .appendFile(DataFiles.builder(table.spec()).withPath(table.location() + "/data/" + UUID.randomUUID() + ".parquet")
              .withFormat("parquet").withFileSizeInBytes(1000).withRecordCount(1).build())
          .commit();
    }
  }

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
          commit(held, 1);
        }
        case "several" -> commit(catalog.loadTable(TableIdentifier.parse(words[1])), 50);
        case "writers" -> {
          List<Thread> writers = new ArrayList<>();
          for (int i = 0; i < 8; i++) {
            Table own = catalog.loadTable(TableIdentifier.parse(words[1]));
            writers.add(new Thread(() -> commit(own, 4)));
          }
          writers.forEach(Thread::start);
          for (Thread writer : writers) {
            writer.join();
          }
        }
        default -> throw new IllegalArgumentException(line);
      }
      System.out.println("= " + (System.nanoTime() - started));
      System.out.flush();
    }
    catalog.close();
  }
}

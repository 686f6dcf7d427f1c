"""SQL of clients that reach Spark's JVM by JDBC or Spark Connect: one icesql session each."""

"""The Spark classes and methods that are called through Py4J, and values on their way to and from the JVM."""

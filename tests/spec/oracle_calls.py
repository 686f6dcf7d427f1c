"""What the oracle process runs for the spec's interop tests: Iceberg's own parsers and transforms over Py4J."""

from __future__ import annotations

from typing import Any


def rewritten_metadata(spark: Any, documents: list[str]) -> list[str]:
    """Each document as Iceberg's parser reads it and writes it again."""
    parser = spark._jvm.org.apache.iceberg.TableMetadataParser
    return [parser.toJson(parser.fromJson("s3://bucket/t/metadata/v1.metadata.json", text)) for text in documents]


def refusals(spark: Any, documents: list[str]) -> list[str | None]:
    """The message with which Iceberg refuses each document, ``None`` where it takes it."""
    parser = spark._jvm.org.apache.iceberg.TableMetadataParser
    found: list[str | None] = []
    for text in documents:
        try:
            parser.fromJson("s3://bucket/t/metadata/v1.metadata.json", text)
            found.append(None)
        except Exception as error:
            found.append(str(error))
    return found


def transformed(spark: Any, cases: list[tuple[str, str, Any]]) -> list[tuple[Any, str]]:
    """(result, text in a path) of (type, transform, value) triples; values are ints, floats, strings, bools and decimals as text."""
    jvm = spark._jvm
    types, transforms = jvm.org.apache.iceberg.types.Types, jvm.org.apache.iceberg.transforms.Transforms
    found = []
    for type_name, transform_text, value in cases:
        type_ = types.fromPrimitiveString(type_name)
        transform = transforms.fromString(transform_text)
        result = transform.bind(type_).apply(_java_value(jvm, type_name, value))
        text = transform.toHumanString(transform.getResultType(type_), result)
        found.append((result if isinstance(result, int) else str(result), text))
    return found


def _java_value(jvm: Any, type_name: str, value: Any) -> Any:
    if type_name.startswith("decimal"):
        return jvm.java.math.BigDecimal(value)
    return value


def name_mapping(spark: Any, schema: str) -> str:
    """The mapping Iceberg makes for a schema, as it writes it."""
    iceberg = spark._jvm.org.apache.iceberg
    return str(iceberg.mapping.NameMappingParser.toJson(iceberg.mapping.MappingUtil.create(iceberg.SchemaParser.fromJson(schema))))


def avro_schema(spark: Any, schema: str) -> str:
    iceberg = spark._jvm.org.apache.iceberg
    return str(iceberg.avro.AvroSchemaUtil.convert(iceberg.SchemaParser.fromJson(schema), "table").toString())

"""Iceberg's SQL as a dialect of sqlglot: tokens, rules, trees and the printer."""

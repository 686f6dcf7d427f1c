"""The statements by the runner that knows them: closed sums, so that a match over them that forgets one does not type-check."""

from __future__ import annotations

from typing import TypeAlias

from icesql.parser import statements as s

ColumnAlteration: TypeAlias = s.AddColumns | s.DropColumns | s.RenameColumn | s.AlterColumns | s.ReplaceColumns
PartitionAlteration: TypeAlias = s.AddPartitionField | s.DropPartitionField | s.ReplacePartitionField | s.WriteOrder
RefAlteration: TypeAlias = s.CreateBranch | s.CreateTag | s.DropBranch | s.DropTag
PropertyAlteration: TypeAlias = s.SetTableProperties | s.UnsetTableProperties | s.SetTableLocation | s.SetDefaultCollation
IdentifierAlteration: TypeAlias = s.SetIdentifierFields | s.DropIdentifierFields
Alteration: TypeAlias = (
    ColumnAlteration | PartitionAlteration | RefAlteration | PropertyAlteration | IdentifierAlteration | s.RenameTable | s.RefusedAlter
)
"""Every ALTER TABLE."""

TableStatement: TypeAlias = s.CreateTable | s.CreateTableLike | s.DropTable | Alteration
ViewStatement: TypeAlias = s.CreateView | s.ShowViews | s.DropView | s.AlterViewProperties | s.RenameView | s.AlterViewAs
NamespaceChange: TypeAlias = s.CreateNamespace | s.DropNamespace | s.AlterNamespace | s.DescribeNamespace
NamespaceStatement: TypeAlias = NamespaceChange | s.Use | s.UseCatalog | s.ShowNamespaces | s.ShowCatalogs | s.ShowCurrentNamespace
RowLevelStatement: TypeAlias = s.Delete | s.Update | s.Merge
RowStatement: TypeAlias = s.Insert | s.MultiInsert | s.TruncateTable | RowLevelStatement
TableDescription: TypeAlias = s.ShowColumns | s.ShowTableProperties | s.ShowCreateTable | s.ShowPartitions | s.DescribeTable
RoutineDescription: TypeAlias = s.ShowProcedures | s.DescribeProcedure | s.ShowFunctions | s.DescribeFunction
ShowStatement: TypeAlias = s.ShowTables | s.DescribeQuery | TableDescription | RoutineDescription
CacheStatement: TypeAlias = s.RefreshTable | s.CacheTable | s.UncacheTable
SparksStatement: TypeAlias = CacheStatement | s.AnalyzeTable | s.RefusedTableCommand | s.Other
"""Those that are mostly Spark's to run."""
TransactionStatement: TypeAlias = s.BeginTransaction | s.CommitTransaction | s.RollbackTransaction
SettingStatement: TypeAlias = s.SetConfiguration | s.ResetConfiguration
AnyStatement: TypeAlias = (
    s.Query
    | s.Explain
    | s.Call
    | s.ExecuteImmediate
    | s.CommentOn
    | TableStatement
    | ViewStatement
    | NamespaceStatement
    | RowStatement
    | ShowStatement
    | SparksStatement
    | TransactionStatement
    | SettingStatement
)

"""SQL: fragments go into a statement as they are, and everything else as a quoted literal."""

from pipeline.database import SQL, assignments, columns


def test_only_a_fragment_becomes_part_of_a_statement() -> None:
    table, evil = SQL("job j"), "x' OR true --"

    made = SQL("SELECT {} FROM {table} WHERE j.kind = {kind} LIMIT {most}").format(
        columns(["id", 'a"b'], table="j"), table=table, kind=evil, most=10
    )

    assert made == """SELECT "j"."id", "j"."a""b" FROM job j WHERE j.kind = 'x'' OR true --' LIMIT 10"""
    assert SQL(" OR ").join([SQL("true"), evil]) == "true OR 'x'' OR true --'"


def test_columns_are_set_from_parameters_of_their_names() -> None:
    assert assignments(["name", "index"]) == '"name" = %(name)s, "index" = %(index)s'

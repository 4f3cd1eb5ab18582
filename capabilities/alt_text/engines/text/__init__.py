"""Text: texts of engines and authors, brought into the form that a mode promises."""

"""Text: what an engine or an author wrote, brought into the form that a mode promises."""

"""Working: what the sweep does with runs. Every step can be interrupted anywhere, and goes on from the rows."""

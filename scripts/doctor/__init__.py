"""Doctor: what `pressroom doctor` looks at."""

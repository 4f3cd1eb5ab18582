"""Doctor: the checks of `pressroom doctor`."""

"""Networks whose restarts train as one: parameters with a leading restart dimension."""

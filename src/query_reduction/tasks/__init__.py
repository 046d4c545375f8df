"""Story tasks and dialog tasks: loading, preparation, vocabulary, metrics, and how an answer is shown."""

"""Stories and dialogs as values: sentences, words, vocabularies, examples."""

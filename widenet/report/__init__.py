"""Report: a result to sentences, a page, a screenful and files; one room a study, and parts that know none."""

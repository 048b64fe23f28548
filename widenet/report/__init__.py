"""Report: a result to sentences, a page, a screen and files; one room a study, and parts that know none."""

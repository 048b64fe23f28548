"""Is my network inside the theorems? What each requires, measured on data, beside what there is."""

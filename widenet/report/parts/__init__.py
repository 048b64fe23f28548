"""What knows no study: document, markup, charts, quantities, screen, files, and how a result is published."""

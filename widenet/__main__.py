"""`python -m widenet` is the command `widenet`."""

from widenet.cli import main

main()

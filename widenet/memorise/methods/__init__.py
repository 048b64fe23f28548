"""Problems to weights: descent as the paper proves it, its experiments' recipe, and linear algebra."""

"""Figure 2(a): a product of tanhs, from N = 1000 samples, for every width."""

from widenet.papers.beyond_two_layers.comparison import SphereComparison, comparison

FIG2A = comparison(
    "fig2a",
    "Figure 2(a), section 7",
    "three-tanhs",
    "tanhs",
    "m",
    {
        "quick": SphereComparison(
            m=(20, 50, 200), two_layer_rates=(5.0, 2.0, 1.0), decays=(1e-4,), epochs=200
        ),
        "paper": SphereComparison(),
    },
    ("The paper's text does not name its widths.",),
)

"""Figure 1(a): a product of sines, from N = 1000 samples, for every width."""

from widenet.papers.beyond_two_layers.comparison import SphereComparison, comparison

FIG1A = comparison(
    "fig1a",
    "Figure 1(a), section 7",
    "three-sines",
    "sines",
    "m",
    {
        "quick": SphereComparison(
            m=(20, 50, 200), two_layer_rates=(5.0, 2.0, 1.0), decays=(1e-4,), epochs=200
        ),
        "paper": SphereComparison(),
    },
    ("The paper's text does not name its widths.",),
)

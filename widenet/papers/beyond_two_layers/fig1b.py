"""Figure 1(b): a product of sines, for every number of samples."""

from widenet.papers.beyond_two_layers.comparison import SphereComparison, comparison

SAMPLES = (200, 500, 1000, 2000)

FIG1B = comparison(
    "fig1b",
    "Figure 1(b), section 7",
    "three-sines",
    "sines",
    "n",
    {
        "quick": SphereComparison(
            m=(100,), n=(500, 1000), two_layer_rates=(5.0, 2.0, 1.0), decays=(1e-4,), epochs=200
        ),
        "paper": SphereComparison(m=(500,), n=SAMPLES, seeds=2),
    },
    ("The paper has m = 2000; its text does not name its numbers of samples.",),
)

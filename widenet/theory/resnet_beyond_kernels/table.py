"""Table 1 of `resnet-beyond-kernels`: the widths and initialisations that the proof of Theorem 1 requires."""

from widenet.theory.demand import SLACK, Demand
from widenet.theory.entry import Argument
from widenet.theory.numbers import INFINITY, Number, context, four_digits, mpf
from widenet.theory.resnet_beyond_kernels.symbols import RESNET
from widenet.theory.stated import Found, entries

# the least m with τ_w⁴ m^−0.496 ≤ m^−0.01, the tightest pair of Table 1's limits on σ_w, is τ_w to this power
WIDTH_POWER = 1 / 0.1215
BEYOND_TABLE = (
    "The proof also uses 1/σ_v ≤ τ_v² (Claim C.6), which Table 1 does not list, and a width beyond a "
    "polynomial M that the paper does not write down."
)
LOG_POWER = "power q of polylog(m) = (ln m)^q"
HUGE = 1000  # natural logarithm of a width beyond every float, which is shown as a power of e


@RESNET.states(
    "Table 1",
    "Width and initialisation that the proof of Theorem 1 requires",
    c_w="in τ_w, the largest ‖W‖₂ of the proof",
    c_v="in τ_v, the largest ‖V‖₂ of the proof",
    log_power=Argument(f"{LOG_POWER}, which the paper hides", low=0.01, high=100, hidden=LOG_POWER),
)
def table_1(
    m: float,
    k: int,
    p_F: int,
    C_F: float,
    p_G: int,
    C_G: float,
    alpha: float,
    sigma_w: float = 0.0,
    sigma_v: float = 0.0,
    *,
    c_w: float = 1.0,
    c_v: float = 1.0,
    log_power: float = 1.0,
) -> Found:
    """The least width from which on the limits leave Table 1 a σ_w and a σ_v, and whether (m, σ_w, σ_v) fits.

    With t = log_m τ_w the table requires m^max(−0.49, 4t−0.496) ≤ σ_w ≤ m^min(−0.01, t−0.126), which has a
    solution exactly if t ≤ 0.1215. σ_v has one where polylog(m) max(1, τ_v) is at most m^0.365 and at most
    τ_v(m/k)^0.375. Widths end where τ_v ≤ 1/polylog(m) does. The proof requires more: `BEYOND_TABLE`.
    """
    width, tau_w, tau_v = mpf(m), c_w * k * p_F * mpf(C_F), c_v * mpf(alpha) * k * p_G * mpf(C_G)
    polylog = context.log(width) ** log_power
    low_w = max(width ** mpf("-0.49"), (tau_w * width ** mpf("-0.124")) ** 4)
    high_w = min(width ** mpf("-0.01"), tau_w * width ** mpf("-0.126"))
    low_v = max(polylog, tau_v * polylog)
    high_v = min(width ** mpf("0.365"), tau_v * (width / k) ** mpf("0.375"))
    sw = mpf(sigma_w) if sigma_w else context.sqrt(low_w * high_w)
    sv = mpf(sigma_v) if sigma_v else context.sqrt(low_v * high_v)
    demands = (
        Demand("τ_w = c_w·k·p_F·C_F", tau_w, "≥", 1),
        Demand("σ_w", sw, "≥", low_w, "max(m^−0.49, τ_w⁴·m^−0.496)"),
        Demand("σ_w", sw, "≤", high_w, "min(m^−0.01, τ_w·m^−0.126)"),
        Demand("τ_v = c_v·α·k·p_G·C_G", tau_v, "≤", 1 / polylog, "1/polylog(m)"),
        Demand("σ_v", sv, "≥", low_v, "polylog(m)·max(1, τ_v)"),
        Demand("σ_v", sv, "≤", high_v, "min(m^0.365, τ_v·(m/k)^0.375)"),
    )
    for_w, for_v = max(tau_w, mpf(1)) ** mpf(WIDTH_POWER), _least_width_of_sigma_v(k, tau_v, log_power)
    least, log_most = max(for_w, for_v, mpf(2)), tau_v ** (-1 / mpf(log_power))
    none = context.log(least) > log_most * (1 + SLACK)
    return Found(
        INFINITY if none else least,
        "least m = max(τ_w^(1/0.1215), m_v),  polylog(m_v)·max(1, τ_v) = min(m_v^0.365, τ_v·(m_v/k)^0.375)",
        f"least m = max({four_digits(tau_w)}^{WIDTH_POWER:.3f}, {four_digits(for_v)}) = {four_digits(least)}",
        {
            "least m for a sigma_w": for_w,
            "least m for a sigma_v": for_v,
            "largest m for tau_v": context.exp(min(log_most, HUGE)),
            "tau_w": tau_w,
            "tau_v": tau_v,
            "least sigma_w": low_w,
            "largest sigma_w": high_w,
            "least sigma_v": low_v,
            "largest sigma_v": high_v,
        },
        demands,
        (BEYOND_TABLE, _width_words(least, log_most, none)),
    )


def _width_words(least: Number, log_most: Number, none: bool) -> str:
    most = four_digits(context.exp(log_most)) if log_most < HUGE else f"e^{four_digits(log_most)}"
    if none:
        return (
            f"No width leaves Table 1 a σ_w and a σ_v: τ_v ≤ 1/polylog(m) holds up to m = {most}, but they "
            f"require at least {four_digits(least)}; a smaller α makes room."
        )
    return f"Widths from {four_digits(least)} to {most} leave Table 1 a σ_w and a σ_v."


def _least_width_of_sigma_v(k: int, tau_v: Number, log_power: float) -> Number:
    """The least m from which on (ln m)^q max(1, τ_v) is at most m^0.365 and at most τ_v(m/k)^0.375."""
    larger = context.log(max(mpf(1), tau_v))
    return max(
        _last_crossing(mpf("0.365"), log_power, larger),
        _last_crossing(mpf("0.375"), log_power, larger - context.log(tau_v) + mpf("0.375") * context.log(k)),
    )


def _last_crossing(a: Number, q: float, b: Number) -> Number:
    """The largest m with m^a = e^b (ln m)^q, or 1: a·x − q·ln x = b at x = ln m is solved by Lambert's W."""
    at = -(a / q) * context.exp(-b / q)
    if at < -1 / context.e:
        return mpf(1)
    return context.exp(-(q / a) * context.re(context.lambertw(at, -1)))


QUANTITIES = entries(table_1)

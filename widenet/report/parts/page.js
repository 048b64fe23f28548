"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const touch = window.matchMedia("(hover: none)").matches;
  const toggle = document.getElementById("theme");
  const probe = document.getElementById("probe");
  const config = {
    responsive: true,
    displaylogo: false,
    displayModeBar: touch ? false : "hover",
    modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d"],
  };

  /** The colour that a variable of the style sheet has under the theme in force. */
  const colour = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };

  /** A copy of a specification in which the names of colours are colours. */
  const coloured = (value, key = "") => {
    if (Array.isArray(value)) return value.map((item) => coloured(item, key));
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([inner, item]) => [inner, coloured(item, inner)]));
    }
    return key.endsWith("color") && typeof value === "string" ? colour(value) : value;
  };

  /** Run the library that draws, which the page carries packed. */
  const unpack = async () => {
    const packed = document.getElementById("plotly");
    if (!packed) return;
    const bytes = Uint8Array.from(atob(packed.textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
  };

  const draw = () => {
    if (!window.Plotly) return; // not unpacked yet
    for (const [name, chart] of Object.entries(charts)) {
      const { data, layout } = coloured(chart);
      layout.font.family = getComputedStyle(document.body).fontFamily;
      if (touch) layout.xaxis.fixedrange = layout.yaxis.fixedrange = true; // a finger scrolls the page instead
      Plotly.react(`chart-${name}`, data, layout, config);
    }
  };

  const isDark = () => (root.style.colorScheme ? root.style.colorScheme === "dark" : dark.matches);

  const show = () => {
    toggle.textContent = isDark() ? "Light" : "Dark";
    draw();
  };

  toggle.hidden = false;
  toggle.addEventListener("click", () => {
    root.style.colorScheme = isDark() ? "light" : "dark";
    show();
  });
  dark.addEventListener("change", show);

  let folded = [];
  let scheme = "";
  window.addEventListener("beforeprint", () => { // paper is light, and nothing on it unfolds
    folded = [...document.querySelectorAll("details:not([open])")];
    folded.forEach((block) => { block.open = true; });
    scheme = root.style.colorScheme;
    root.style.colorScheme = "light";
    draw();
  });
  window.addEventListener("afterprint", () => {
    folded.forEach((block) => { block.open = false; });
    root.style.colorScheme = scheme;
    draw();
  });

  show();
  unpack().then(draw);
})();

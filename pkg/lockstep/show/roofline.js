// A roofline. Python draws; the pointer reads it at any intensity, and each kernel when it is pointed at or stepped to.

const RATES = [[1e15, "PFLOP/s"], [1e12, "TFLOP/s"], [1e9, "GFLOP/s"], [1e6, "MFLOP/s"], [1, "FLOP/s"]];

function rate(flops) {
  const [scale, unit] = RATES.find(([scale]) => flops >= scale * 0.9995) ?? RATES.at(-1);
  return `${digits(flops / scale)} ${unit}`;
}

function render({ model, el }) {
  const root = figure(el, "Roofline");
  const picture = make("div", { class: "ls-picture", tabindex: "0", role: "group", "aria-label": "Roofline; left and right step from kernel to kernel" });
  const readout = make("div", { class: "ls-readout", "aria-live": "polite" });
  let chosen = -1;

  const facts = () => model.get("facts");
  const mark = (x) => {
    const [, , top, bottom] = facts().area;
    picture.querySelector(".ls-cross")?.remove();
    picture.querySelector("svg").append(cross(x, top, bottom));
  };
  const choose = (number) => {
    chosen = number;
    readout.textContent = facts().told[number];
    mark(Number(picture.querySelector(`[data-kernel="${number}"] circle`).getAttribute("cx")));
  };
  const read = (share, x) => {
    const { intensities: [low, high], bandwidth, peak, memory } = facts();
    const intensity = low * (high / low) ** share, slanted = intensity * bandwidth;
    chosen = -1;
    mark(x);
    readout.textContent = slanted < peak
      ? `${digits(intensity)} FLOP/byte: at most ${rate(slanted)}, limited by ${memory} (${bytes(bandwidth)}/s)`
      : `${digits(intensity)} FLOP/byte: at most ${rate(peak)}, limited by computing`;
  };
  const draw = () => {
    picture.innerHTML = model.get("drawing");
    chosen = -1;
    readout.textContent = "Point at a kernel, or anywhere under the roof.";
  };
  picture.addEventListener("pointermove", (event) => {
    const kernel = event.target.closest?.("[data-kernel]");
    if (kernel) return choose(Number(kernel.dataset.kernel));
    const [left, right] = facts().area, x = across(picture, event), share = (x - left) / (right - left);
    if (share >= 0 && share <= 1) read(share, x);
  });
  picture.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key], number = facts().told.length;
    if (!by || !number) return;
    event.preventDefault();
    choose(chosen < 0 ? (by > 0 ? 0 : number - 1) : (chosen + by + number) % number);
  });
  root.append(picture, readout);
  draw();
  return follow(model, ["drawing", "facts"], draw);
}

export default { render };

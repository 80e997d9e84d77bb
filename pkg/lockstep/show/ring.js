// The ring all-reduce, step by step. Python has drawn every step; the slider chooses one.

function render({ model, el }) {
  const root = figure(el, "Ring all-reduce, step by step");
  const picture = make("div", { class: "ls-picture" }), told = make("div", { class: "ls-unseen", "aria-live": "polite" });
  const last = () => model.get("frames").length - 1;
  const go = (step) => {
    model.set("step", Math.max(0, Math.min(last(), step)));
    model.save_changes();
    draw();
  };
  let clock = 0;
  const play = make("button", { type: "button", onclick: () => (clock ? stop() : start()) }, "Play");
  const stop = () => { clearInterval(clock); clock = 0; play.textContent = "Play"; };
  const start = () => {
    if (model.get("step") >= last()) go(0);
    play.textContent = "Pause";
    clock = setInterval(() => (model.get("step") >= last() ? stop() : go(model.get("step") + 1)), 1200);
  };
  const back = make("button", { type: "button", "aria-label": "step back", onclick: () => go(model.get("step") - 1) }, "◀");
  const on = make("button", { type: "button", "aria-label": "step forward", onclick: () => go(model.get("step") + 1) }, "▶");
  const steps = slider("step", { min: 0, max: last(), value: model.get("step") }, (s) => `${s} of ${last()}`, go);
  const most = Math.max(8, model.get("ranks"));
  const ranks = slider("ranks", { min: 1, max: most, value: model.get("ranks") }, String, (count) => {
    stop();
    model.set("ranks", count);
    model.save_changes();
  });
  const draw = () => {
    const step = Math.max(0, Math.min(last(), model.get("step")));
    picture.innerHTML = model.get("frames")[step];
    told.textContent = model.get("captions")[step];
    steps.input.max = last();
    steps.set(step);
    ranks.set(model.get("ranks"));
    back.disabled = step === 0;
    on.disabled = step === last();
  };
  root.append(make("div", { class: "ls-bar" }, back, on, play, steps.node, ranks.node), picture, told);
  draw();
  const undo = follow(model, ["step", "frames", "captions"], draw);
  return () => { undo(); stop(); };
}

export default { render };

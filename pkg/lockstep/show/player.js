// A figure of drawn steps: Python has drawn every one of them (frames, captions); a slider and a button choose one.

/** Draws into root and follows the model. Gives back what stops it, and where further controls go. */
function player({ model, root, pause = 1200, more = () => {} }) {
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
    clock = setInterval(() => (model.get("step") >= last() ? stop() : go(model.get("step") + 1)), pause);
  };
  const back = make("button", { type: "button", "aria-label": "step back", onclick: () => go(model.get("step") - 1) }, "◀");
  const on = make("button", { type: "button", "aria-label": "step forward", onclick: () => go(model.get("step") + 1) }, "▶");
  const steps = slider("step", { min: 0, max: last(), value: model.get("step") }, (s) => `${s} of ${last()}`, go);
  const bar = make("div", { class: "ls-bar" }, back, on, play, steps.node);
  const draw = () => {
    const step = Math.max(0, Math.min(last(), model.get("step")));
    picture.innerHTML = model.get("frames")[step];
    told.textContent = model.get("captions")[step];
    steps.input.max = last();
    steps.set(step);
    back.disabled = step === 0;
    on.disabled = step === last();
    more();
  };
  root.append(bar, picture, told);
  draw();
  const undo = follow(model, ["step", "frames", "captions"], draw);
  return { bar, stop, end: () => { undo(); stop(); } };
}

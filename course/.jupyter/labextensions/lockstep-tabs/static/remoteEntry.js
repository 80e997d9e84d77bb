// An extension of JupyterLab, as it is loaded: no build makes it. A lesson's tab shows the title of its unit, which is the
// notebook's first heading; twelve open files are all called lesson.ipynb. A lab keeps its file's name: the gradebook's key.
// The label itself is left alone, because JupyterLab renames the file to whatever is written there.

const LESSONS = /(^|\/)course\/.*\.ipynb$/, NEW = /\.new(-\d+)?\.ipynb$/;

/** "05 All-reduce SGD", or "" for a notebook without a heading at its top. */
function heading(content) {
  const first = content.model?.cells.get(0);
  return /^# +(.+)$/m.exec(first?.type === "markdown" ? first.sharedModel.getSource() : "")?.[1] ?? "";
}

/** What the tab of this widget shows; "" for its own label. */
function shown({ context, content }) {
  if (!content?.widgets || !LESSONS.test(context?.path)) return "";
  const told = heading(content);
  return told && NEW.test(context.path) ? `${told} (new)` : told;
}

function rule(widget, told) {
  const label = `li[data-id="${CSS.escape(widget.id)}"] .lm-TabBar-tabLabel`;
  return `${label} { font-size: 0; } ${label}::after { content: ${JSON.stringify(told)}; font-size: var(--jp-ui-font-size1); vertical-align: middle; }`;
}

const plugin = {
  id: "lockstep-tabs:plugin",
  autoStart: true,
  activate(app) {
    const style = document.head.appendChild(document.createElement("style")), known = new WeakSet();
    const draw = () => {
      const tabs = [...app.shell.widgets("main")];
      for (const widget of tabs.filter((tab) => tab.context && !known.has(tab))) {
        known.add(widget);
        widget.context.ready.then(draw);
        widget.context.pathChanged.connect(draw);
      }
      style.textContent = tabs.map((tab) => [tab, shown(tab)]).filter(([, told]) => told).map(([tab, told]) => rule(tab, told)).join("\n");
    };
    app.restored.then(draw);
    app.shell.layoutModified?.connect(draw);
  },
};

globalThis._JUPYTERLAB ??= {};
globalThis._JUPYTERLAB["lockstep-tabs"] = { init() {}, get: async () => () => ({ __esModule: true, default: plugin }) };

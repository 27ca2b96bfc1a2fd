// The page's side of the worker: loads a model when it is first wanted, asks, and hears answers.

/** A script of the site; opened as a file, a page may load nothing else. */
function loadScript(address) {
  return new Promise((done, fail) => {
    const node = document.createElement("script");
    node.src = address;
    node.onload = done;
    node.onerror = () => fail(new Error("The model's file could not be loaded."));
    document.head.append(node);
  });
}

export class Engine {
  /** `hear(message)` is called with {top}, {done} or {error} of the newest request only. */
  constructor({ name, file, source, hear }) {
    Object.assign(this, { name, file, source, hear, id: 0, head: null, loading: null });
  }

  /** The model's head; the first call loads the file and starts the worker. */
  load() {
    this.loading ??= this.start().catch((error) => {
      this.loading = null; // to be tried again
      throw error;
    });
    return this.loading;
  }

  async start() {
    await loadScript(this.file);
    const packed = window.attnPlayground[this.name];
    const url = URL.createObjectURL(new Blob([this.source], { type: "text/javascript" }));
    this.worker = new Worker(url); // a blob: a worker's file may not be opened from a file either
    const head = await new Promise((done, fail) => {
      this.worker.onmessage = ({ data }) => (data.error ? fail(new Error(data.error)) : done(data.head));
      this.worker.onerror = (event) => fail(new Error(event.message));
      this.worker.postMessage({ packed });
    });
    URL.revokeObjectURL(url);
    delete window.attnPlayground[this.name]; // the worker has it
    this.worker.onmessage = ({ data }) => { if (data.id === this.id) this.hear(data); };
    this.head = head;
    return head;
  }

  /** Asks for a translation as `translate` does; an older request is given up. */
  ask(request, plain) {
    this.id += 1;
    this.worker.postMessage({ id: this.id, request, plain });
  }
}

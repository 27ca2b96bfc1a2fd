// The worker: unpacks the model once, then answers requests; a newer one ends the older.
import { Translator } from "./play_model.js";
import { unpack } from "./play_pack.js";
import { translate } from "./play_translate.js";

let translator = null;
let newest = 0;
let known = { key: "", tokens: [] }; // the unchanged translation of the last sentence

/** Lets waiting messages in. */
const breathe = () => new Promise((go) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => { port1.close(); go(); };
  port2.postMessage(null);
});

/** What the model writes when nothing is changed. */
function unchanged(ids) {
  const key = ids.join();
  if (known.key !== key) {
    known = { key, tokens: [...translate(translator, { ids })].at(-1).done.tokens };
  }
  return known.tokens;
}

async function answer({ id, request, plain }) {
  for (const part of translate(translator, request)) {
    if (id !== newest) return;
    if (part.done) part.done.plain = plain ? part.done.tokens : unchanged(request.ids.slice(0, request.words));
    postMessage({ id, ...part });
    await breathe();
  }
}

onmessage = async ({ data }) => {
  try {
    if (data.packed) {
      const model = await unpack(data.packed);
      translator = new Translator(model);
      const { tensors, ...head } = model.head;
      postMessage({ head });
      return;
    }
    newest = data.id;
    await answer(data);
  } catch (error) {
    postMessage({ id: data.id, error: error.message });
  }
};

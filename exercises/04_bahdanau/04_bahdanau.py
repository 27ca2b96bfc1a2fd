# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Exercises 4: Bahdanau attention
#
# They belong to the chapter on translation with attention. You need Python with torch, here or on Colab, and about 135 minutes.
#
# | question | points | minutes | difficulty | deliverable |
# |---|---|---|---|---|
# | Q1 the loss of a valid token | 9 | 20 | ★★☆ | `token_loss` |
# | Q2 keys projected once | 6 | 20 | ★★☆ | `AdditiveScore` |
# | Q3 one step of the decoder | 12 | 30 | ★★★ | `DecoderStep` |
# | Q4 greedy decoding | 9 | 25 | ★★★ | `greedy` |
# | Q5 find the bug | 8 | 15 | ★★☆ | `error_rate`, mended |
# | Q6 a written question | 4, by hand | 10 | ★★☆ | three to five sentences |
# | Q7 an experiment | 4, by hand | 15 | ★★☆ | a figure or a table, and what it shows |
#
# Shape letters: `b` sentences, `t` target steps, `k` source tokens, `v` words of the target vocabulary. Write your answers where it says so and keep the names. After each question stands a self-check. It says what is probably wrong; passing it is necessary, not sufficient: grading uses more tests and other numbers. Hand in this notebook.

# %%
STUDENT = "your name or number"  # it chooses the numbers of your self-checks

# %%
import torch
from torch import nn
from torch.nn import functional as F

# %%
### TOOLS

# %% [markdown]
# ## Q1. The loss of a valid token
#
# *9 points, 20 minutes, ★★☆.* Sentence `i` has `lengths[i]` target tokens; the rest of its row is padding, and **anything** may stand there: logits of NaN, targets that are no word. The loss is the cross-entropy in nats, summed over all valid tokens of the batch and divided by their number. So a long sentence counts more than a short one. The word 0 may be a valid target. Without any valid token the loss is 0. Gradients flow to the logits of valid tokens, and none to padding.
#
# *Deliverable:* `token_loss`, a tensor without axes.


# %%
def token_loss(logits, targets, lengths):
    """Mean cross-entropy of logits (b, t, v), targets (b, t) and lengths (b,) over valid tokens."""
    ### BEGIN SOLUTION
    valid = torch.arange(targets.shape[1]) < lengths.unsqueeze(1)  # (b, t)
    total = F.cross_entropy(logits[valid], targets[valid], reduction="sum")  # (tokens, v)
    return total / valid.sum().clamp(min=1)
    ### END SOLUTION


# %%
### CHECK q1

# %% [markdown]
# ## Q2. Keys projected once
#
# *6 points, 20 minutes, ★★☆.* A decoder asks the same source at every step, and only its query is new. So the additive score $\mathbf{w}_v^\top \tanh(\mathbf{W}_q \mathbf{q} + \mathbf{W}_k \mathbf{k})$ is taken in two parts: `project` does all that depends on the keys alone, once for a source, and `score` does the rest, once for a step. Three linear layers **without bias**, `W_q`, `W_k` and `w_v`, the last with one output. Gradients must flow to query and keys.
#
# *Deliverable:* `AdditiveScore`.


# %%
class AdditiveScore(nn.Module):
    """Scores of one query a sentence, of size query_size, for keys of size key_size."""

    def __init__(self, query_size, key_size, hidden):
        super().__init__()
        ### BEGIN SOLUTION
        self.W_q = nn.Linear(query_size, hidden, bias=False)
        self.W_k = nn.Linear(key_size, hidden, bias=False)
        self.w_v = nn.Linear(hidden, 1, bias=False)
        ### END SOLUTION

    def project(self, keys):
        """Projected keys (b, k, hidden) of keys (b, k, key_size)."""
        ### BEGIN SOLUTION
        return self.W_k(keys)
        ### END SOLUTION

    def score(self, query, projected):
        """Scores (b, k) of a query (b, query_size) for projected keys."""
        ### BEGIN SOLUTION
        features = self.W_q(query).unsqueeze(1) + projected  # (b, k, hidden)
        return self.w_v(features.tanh()).squeeze(2)
        ### END SOLUTION


# %%
### CHECK q2

# %% [markdown]
# ## Q3. One step of the decoder
#
# *12 points, 30 minutes, ★★★.* Bahdanau's decoder asks **before** it steps:
#
# 1. the state as it came in is the query; its scores for the encoder's outputs, the memory, come from Q2, by the `projected` that is handed in;
# 2. weights: a softmax over the `lengths[i]` valid tokens of each source, exactly 0 at padding, all 0 where the length is 0;
# 3. context: the memory, weighted;
# 4. new state: a `nn.GRUCell` reads the token's embedding and then the context, joined in this order;
# 5. logits: a linear layer reads the **new** state and then the context, joined in this order.
#
# Padding of `memory` and `projected` may hold anything finite. Gradients must flow from the logits through the context to the memory. The parts are called `embedding`, `attention` (Q2's module), `cell` and `output`.
#
# *Deliverable:* `DecoderStep`.


# %%
class DecoderStep(nn.Module):
    """Logits (b, v), new state (b, d) and weights (b, k) after one more target token."""

    def __init__(self, v, embed, d, memory_size, hidden):
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(v, embed)
        self.attention = AdditiveScore(d, memory_size, hidden)
        self.cell = nn.GRUCell(embed + memory_size, d)
        self.output = nn.Linear(d + memory_size, v)
        ### END SOLUTION

    def forward(self, tokens, state, memory, projected, lengths):
        """Tokens (b,), state (b, d), memory (b, k, memory_size), projected as Q2 makes it."""
        ### BEGIN SOLUTION
        scores = self.attention.score(state, projected)  # (b, k)
        valid = torch.arange(memory.shape[1]) < lengths.unsqueeze(1)
        some = valid.any(dim=1, keepdim=True)  # a softmax over nothing would be NaN
        weights = scores.masked_fill(~valid & some, -torch.inf).softmax(dim=1) * some
        context = (weights.unsqueeze(1) @ memory).squeeze(1)  # (b, memory_size)
        state = self.cell(torch.cat((self.embedding(tokens), context), dim=1), state)
        return self.output(torch.cat((state, context), dim=1)), state, weights
        ### END SOLUTION


# %%
### CHECK q3

# %% [markdown]
# ## Q4. Greedy decoding
#
# *9 points, 25 minutes, ★★★.* `step(tokens, state)` reads the last words (b,) and gives the logits (b, v) of the next word and the next state, for any model; you cannot look into the state. Begin with `bos` for every sentence, and take the likeliest word each time. A sentence is finished with the word `eos`, which belongs to it; after that its row holds `pad`, whatever the model goes on to say; `pad` and `eos` may be one word. Stop when all sentences are finished, or after `max_len` words.
#
# So that you can try it, `recite`, which stands with the tools above, makes a step that follows a table: in sentence $s$ and with the word $w$ in the hand, step $i$ gives the logits `table[s, i, w]`. It raises when it is asked for more steps than the table has.
#
# *Deliverable:* `greedy`.


# %%
def greedy(step, state, b, bos, eos, pad, max_len):
    """Words (b, t), t at most max_len, as integers."""
    ### BEGIN SOLUTION
    tokens, words = torch.full((b,), bos), []
    done = torch.zeros(b, dtype=torch.bool)
    while len(words) < max_len and not done.all():
        logits, state = step(tokens, state)
        tokens = logits.argmax(dim=1)
        words.append(tokens.masked_fill(done, pad))
        done = done | (tokens == eos)
    return torch.stack(words, dim=1)
    ### END SOLUTION


# %%
### CHECK q4

# %% [markdown]
# ## Q5. Find the bug
#
# *8 points, 15 minutes, ★★☆.* Do the weights find the words that a gold alignment links? Row `i` of `weights` was computed by the step that **wrote** target word `i`; the row after the last word wrote `<eos>` and is not judged. The columns are the source words, and after them its `<eos>`. Each target word is linked to the column of its largest weight, and to nothing where that is past the source words. With the links $A$, the sure gold links $S$ and the possible ones $P \supseteq S$, the alignment error rate is
#
# $$ 1 - \frac{\lvert A \cap S \rvert + \lvert A \cap P \rvert}{\lvert A \rvert + \lvert S \rvert}. $$
#
# Somebody wrote it and concluded that attention does not align. **One line is wrong.** The heat map beside it looked convincing: a diagonal that is moved by one is still a diagonal. Mend it, and remove the line that raises.
#
# *Deliverable:* `error_rate`, with one line changed.


# %%
def error_rate(weights, sure, possible):
    """Error rate of weights (more than t, more than k); sure and possible (t, k), True at a link."""
    ### BEGIN SOLUTION
    t, k = sure.shape
    rows = weights[:t]  # without the row of <eos>
    columns = torch.arange(weights.shape[1])
    links = (columns == rows.argmax(dim=1, keepdim=True))[:, :k]  # past the source: no link
    hits = (links & sure).sum() + (links & possible).sum()
    return 1 - hits / (links.sum() + sure.sum())
    ### END SOLUTION
    ### BEGIN RELEASED
    #| raise NotImplementedError  # remove this line when you have mended the function
    #| t, k = sure.shape
    #| rows = weights[1 : t + 1]  # without the row of <bos>
    #| columns = torch.arange(weights.shape[1])
    #| links = (columns == rows.argmax(dim=1, keepdim=True))[:, :k]  # past the source: no link
    #| hits = (links & sure).sum() + (links & possible).sum()
    #| return 1 - hits / (links.sum() + sure.sum())
    ### END RELEASED


# %%
### CHECK q5

# %% [markdown]
# ## Q6. In words
#
# *4 points, 10 minutes, ★★☆.* A batch of sources is padded at the end. Somebody lets a bidirectional encoder read it as it is, and masks the padding in the decoder's attention. The loss falls as it should. Which states of the encoder are nevertheless wrong, and why only those? Why does a sentence's translation then depend on its neighbours in the batch? How would you show it with two runs, and how would you mend it?
#
# *Deliverable:* three to five sentences in the cell below, after the colon.

# %% [markdown]
# **Answer Q6:**
#
# ### BEGIN SOLUTION
# The backward direction starts at the end of the row, so it has read all the padding when it reaches the last word, and its states at all words begin from there; the forward direction meets the padding after the words, and its states at words are right. How much padding there is, the longest neighbour in the batch decides, so the same sentence gets other states beside a long neighbour than beside a short one; the mask hides the states at padding, not what they did to the others. Encode one sentence alone, and once more with some padding behind it: the states at its words must be equal, and the backward half is not. Start the backward direction at each sentence's own end, by packing, or by turning each sentence round within its length.
#
# *Rubric, 4 points:* the backward states, which have read padding first, the forward ones not (1); the amount of padding comes from the neighbours, and the attention mask does not help (1); alone against padded, equal states asked for (1); packing, or turning within the length (1).
# ### END SOLUTION

# %% [markdown]
# ## Q7. An experiment of your own
#
# *4 points, 15 minutes, ★★☆.* Ask a question about losses, decoding or alignments that a run can answer, and answer it with your functions from above. Say beforehand what you expect, and what would show you wrong. Change one thing, keep something beside it to compare with, and repeat with three seeds what depends on chance. Take a question of your own, or one of these: what does the error rate see of weights that are blurred, and of weights that are disturbed? How does the number of words that greedy decoding says depend on `max_len`?
#
# *Deliverable:* a figure or a table from the code cell below, and after the colon your question, what you expected, what came out, and what that does not show.

# %%
### EXPERIMENT: a person reads this cell and its output; grading does not run it
### BEGIN SOLUTION
print("blur or noise  rate when blurred, when disturbed")
for much in (0.0, 0.3, 0.6, 0.9):
    blurred, disturbed = [], []
    for seed in range(3):
        torch.manual_seed(seed)
        gold = torch.eye(20, dtype=torch.bool)
        sharp = torch.eye(21)
        noise = torch.rand(21, 21)
        blurred.append(error_rate((1 - much) * sharp + much / 21, gold, gold))
        disturbed.append(error_rate((1 - much) * sharp + much * noise, gold, gold))
    print(f"{much:13}  {sum(blurred) / 3:.2f}  {sum(disturbed) / 3:.2f}")
### END SOLUTION

# %% [markdown]
# **Answer Q7:**
#
# ### BEGIN SOLUTION
# Does the alignment error rate notice that weights are spread out? I mixed perfect weights with uniform ones, and for comparison with random ones, in the same shares and with three seeds. Blurred weights keep the rate 0, even where nine tenths of each row say nothing; the same share of noise raises it, once it is large enough to win against the right column. So the rate judges the place of the largest weight and not how much of the attention is there. Real weights are not a diagonal, so the sizes in the table mean nothing for a trained model.
#
# *Rubric, 4 points:* a question, and an expectation that the run could have refuted (1); one thing changed, something to compare with, and three seeds where there is chance (1); a figure or table that can be read without the text (1); a conclusion that says what was seen and no more, with one limit of it (1).
# ### END SOLUTION

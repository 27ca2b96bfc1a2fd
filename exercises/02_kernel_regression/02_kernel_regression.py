# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Exercises 2: kernel regression as attention
#
# They belong to the chapter *Kernel regression as attention*. You need Python with torch, here or on Colab, and about 115 minutes.
#
# | question | points | minutes | difficulty | deliverable |
# |---|---|---|---|---|
# | Q1 Nadaraya and Watson | 6 | 15 | ★☆☆ | `fit` |
# | Q2 a kernel that ends | 5 | 15 | ★★☆ | `boxcar_fit` |
# | Q3 leave one out | 8 | 30 | ★★★ | `loo_error` |
# | Q4 find the bug | 6 | 25 | ★★☆ | `train`, mended |
# | Q5 a written question | 4, by hand | 10 | ★★☆ | three to five sentences |
# | Q6 an experiment | 4, by hand | 20 | ★★☆ | a figure or a table, and what it shows |
#
# Write your answers where it says so and keep the names of the functions. After each question stands a self-check. It says what is probably wrong; passing it is necessary, not sufficient: grading uses more tests and other numbers. Hand in this notebook.

# %%
STUDENT = "your name or number"  # it chooses the numbers of your self-checks

# %%
import torch

# %%
### TOOLS

# %% [markdown]
# ## Q1. Nadaraya and Watson
#
# *6 points, 15 minutes, ★☆☆.* All places are single numbers: queries (q,), keys (n,), values (n,). The fit is the mean of the values, weighted by a Gaussian kernel of the distance; `w` is one over the kernel's width:
#
# $$ f(q) = \sum_i \operatorname{softmax}_i\!\left(-\tfrac12 \bigl((q - x_i)\, w\bigr)^2\right) y_i. $$
#
# *Deliverable:* `fit`. It must also answer for a query that is far from every key.


# %%
def fit(queries, keys, values, w):
    """The fitted values (q,)."""
    ### BEGIN SOLUTION
    distance = queries.unsqueeze(1) - keys.unsqueeze(0)  # (q, n)
    weights = (-((distance * w) ** 2) / 2).softmax(dim=1)
    return weights @ values
    ### END SOLUTION


# %%
### CHECK q1

# %% [markdown]
# ## Q2. A kernel that ends
#
# *5 points, 15 minutes, ★★☆.* The boxcar kernel gives the same weight to every key that is **at most** `width` away, and none to the others. A query with no key in reach gets 0.
#
# *Deliverable:* `boxcar_fit`.


# %%
def boxcar_fit(queries, keys, values, width):
    """The fitted values (q,), 0 where no key is in reach."""
    ### BEGIN SOLUTION
    near = (queries.unsqueeze(1) - keys.unsqueeze(0)).abs() <= width  # (q, n)
    number = near.sum(dim=1)
    return (near.to(values.dtype) @ values) / number.clamp(min=1)
    ### END SOLUTION


# %%
### CHECK q2

# %% [markdown]
# ## Q3. Leave one out
#
# *8 points, 30 minutes, ★★★.* How good is `w`? Predict each point from the others with the Gaussian fit, and take the **mean** of the squared errors. A point may not attend to itself. If `group` (n,) is given, it may not attend to any point of its own group either: copies of a point share a group. A point with nobody to attend to is predicted as 0; others that are far away still count. The result is a number, a tensor without axes; when `w` is a tensor, it has a gradient for `w`.
#
# *Deliverable:* `loo_error`.


# %%
def loo_error(keys, values, w, group=None):
    """Mean squared leave-one-out error of the Gaussian fit."""
    ### BEGIN SOLUTION
    if group is None:
        group = torch.arange(len(keys))
    other = group.unsqueeze(1) != group.unsqueeze(0)  # (n, n), False on the diagonal
    scores = -(((keys.unsqueeze(1) - keys.unsqueeze(0)) * w) ** 2) / 2
    scores = scores.masked_fill(~other, -torch.inf)
    top = scores.amax(dim=1, keepdim=True).clamp(min=-1e30)
    e = (scores - top).exp()
    weights = e / e.sum(dim=1, keepdim=True).clamp(min=1e-30)
    return (weights @ values - values).square().mean()
    ### END SOLUTION


# %%
### CHECK q3

# %% [markdown]
# ## Q4. Find the bug
#
# *6 points, 25 minutes, ★★☆.* `train` follows the gradient of the leave-one-out error downhill and returns the path of `w`, `steps + 1` numbers, the start first. The first step is right. The later ones are not: **one line is missing**. Find out which, mend it, and remove the line that raises.
#
# *Deliverable:* `train`, with one line added.


# %%
def train(keys, values, start, rate, steps):
    """The path of w, (steps + 1,), by gradient descent on the leave-one-out error."""
    ### BEGIN SOLUTION
    itself = torch.eye(len(keys), dtype=torch.bool)
    w = torch.tensor(float(start), requires_grad=True)
    path = [w.item()]
    for _ in range(steps):
        scores = -(((keys.unsqueeze(1) - keys.unsqueeze(0)) * w) ** 2) / 2
        weights = scores.masked_fill(itself, -torch.inf).softmax(dim=1)
        loss = (weights @ values - values).square().mean()
        w.grad = None
        loss.backward()
        with torch.no_grad():
            w -= rate * w.grad
        path.append(w.item())
    return torch.tensor(path)
    ### END SOLUTION
    ### BEGIN RELEASED
    #| raise NotImplementedError  # remove this line when you have mended the function
    #| itself = torch.eye(len(keys), dtype=torch.bool)
    #| w = torch.tensor(float(start), requires_grad=True)
    #| path = [w.item()]
    #| for _ in range(steps):
    #|     scores = -(((keys.unsqueeze(1) - keys.unsqueeze(0)) * w) ** 2) / 2
    #|     weights = scores.masked_fill(itself, -torch.inf).softmax(dim=1)
    #|     loss = (weights @ values - values).square().mean()
    #|     loss.backward()
    #|     with torch.no_grad():
    #|         w -= rate * w.grad
    #|     path.append(w.item())
    #| return torch.tensor(path)
    ### END RELEASED


# %%
### CHECK q4

# %% [markdown]
# ## Q5. In words
#
# *4 points, 10 minutes, ★★☆.* A textbook trains $w$ with learning rate 0.5 on the **sum** of fifty squared errors and shows a jagged curve. It concludes that a learned width makes a fit less smooth. Chapter 2 disagrees. What happened in the first step, why do the later steps not undo it, and what would you change?
#
# *Deliverable:* three to five sentences in the cell below, after the colon.

# %% [markdown]
# **Answer Q5:**
#
# ### BEGIN SOLUTION
# The sum over fifty points is fifty times the mean, and so is its gradient: the first step jumps over the valley to a very large w. Out there each point attends to its nearest neighbour alone, the error hardly depends on w, and the small gradient can't bring it back. The jagged curve is an overshoot of the optimiser, not the price of learning. Take the mean, or a rate fifty times smaller, or an optimiser that adapts its steps.
#
# *Rubric, 4 points:* gradient of the sum is n times as large (1); it overshoots the best w (1); the loss is flat beyond, so it stays there (1); a remedy (1).
# ### END SOLUTION

# %% [markdown]
# ## Q6. An experiment of your own
#
# *4 points, 20 minutes, ★★☆.* Ask a question about widths, kernels or the leave-one-out error that a run can answer, and answer it with your functions from above. Say beforehand what you expect, and what would show you wrong. Change one thing, keep something beside it to compare with, and repeat with three seeds what depends on chance. Take a question of your own, or one of these: does the best `w` depend on the number of points, or on the noise? Where is the boxcar fit better than the Gaussian one?
#
# *Deliverable:* a figure or a table from the code cell below, and after the colon your question, what you expected, what came out, and what that does not show.

# %%
### EXPERIMENT: a person reads this cell and its output; grading does not run it
### BEGIN SOLUTION
widths = torch.logspace(-0.5, 1.5, 30)
print("points  best w, three seeds")
for n in (20, 80, 320):
    best = []
    for seed in range(3):
        torch.manual_seed(seed)
        keys = 5 * torch.rand(n)
        values = torch.sin(2 * keys) + 0.3 * torch.randn(n)
        errors = torch.stack([loo_error(keys, values, w) for w in widths])
        best.append(f"{widths[errors.argmin()]:5.1f}")
    print(f"{n:6} ", *best)
### END SOLUTION

# %% [markdown]
# **Answer Q6:**
#
# ### BEGIN SOLUTION
# Should the kernel get narrower when there are more points? I expected a larger best w, since near points then suffice for an average; equal numbers for all n would have refuted it. The curve and its noise stay the same, only the number of points changes, with three seeds each. From 80 to 320 points the best w grows in two seeds and stays in the third, which fits; but with 20 points the three seeds differ by more than a factor of three, one of them above all of 80, so for so few points I can say nothing. Three seeds are too few here, and I have tried one curve and one level of noise.
#
# *Rubric, 4 points:* a question, and an expectation that the run could have refuted (1); one thing changed, something to compare with, and three seeds where there is chance (1); a figure or table that can be read without the text (1); a conclusion that says what was seen and no more, with one limit of it (1).
# ### END SOLUTION

"""Runs INSIDE the box, next to the student's code. Trusts nothing, is trusted with nothing.

The student's code can take over this process. All that it gains is the right to send values,
which it has anyway: the tests that judge them are not here.
"""

import json
import os
import struct
import sys

INPUT, OUTPUT = os.dup(0), os.dup(1)
for descriptor in (0, 1, 2):  # what is printed goes nowhere: it can neither flood nor forge
    os.dup2(os.open("/dev/null", os.O_RDWR), descriptor)
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import absent  # noqa: E402
import calls  # noqa: E402
import cells  # noqa: E402
import torch  # noqa: E402
import wire  # noqa: E402

for ours in ("absent", "calls", "cells", "wire"):  # a student's `import wire` is not ours
    del sys.modules[ours]
sys.path[0] = ""  # as in Jupyter: what a cell wrote into a file can be imported

torch.set_num_threads(1)
objects = []


def read(size):
    data = b""
    while len(data) < size:
        part = os.read(INPUT, size - len(data))
        if not part:
            os._exit(0)
        data += part
    return data


def send(message):
    frame = wire.pack(message)
    while frame:
        frame = frame[os.write(OUTPUT, frame) :]


def receive():
    return json.loads(read(struct.unpack(">I", read(4))[0]))


class Outside(torch.nn.Module):
    """A model that the tests made: it is asked and put into a mode, and can't be looked into."""

    def __init__(self, number, training):
        super().__init__()
        self.number, self.training = number, training

    def forward(self, *args, **kwargs):
        args = [wire.encode(value, refer) for value in args]
        kwargs = {key: wire.encode(value, refer) for key, value in kwargs.items()}
        send({"asks": [self.number, self.training], "args": args, "kwargs": kwargs})
        told = receive()
        if "error" in told:
            raise RuntimeError(told["error"])
        return wire.decode(told["answer"], referred)


def refer(value):
    """What is no data: a model of the tests' goes back as it came, the rest stays here."""
    if isinstance(value, Outside):
        return {"outside": [value.number, value.training]}
    return {"object": [keep(value), type(value).__name__[:80]]}


def keep(value):
    objects.append(value)
    return len(objects) - 1


def referred(kind, content):
    return Outside(*content) if kind == "outside" else calls.part(objects, content)


def error(problem):
    try:
        words = str(problem)
    except BaseException:
        words = "?"
    return {"error": [type(problem).__name__[:80], words[:600]]}


notebook = cells.Notebook()
names = notebook.names


def find(request):
    """What is asked for: a name of the notebook, an object kept, or a part of one."""
    thing = objects[request["object"]] if request["object"] is not None else names
    if thing is not names:
        return getattr(thing, request["name"]) if request["name"] else thing
    if request["name"] not in names:
        raise NameError(f"{request['name']} is not defined")
    return names[request["name"]]


def call(request):
    args = [wire.decode(value, referred) for value in request["args"]]
    kwargs = {key: wire.decode(value, referred) for key, value in request["kwargs"].items()}
    result = calls.perform(find(request), args, kwargs, request)
    answer = {"answer": wire.encode(result, refer), "kept": keep(result)}
    return answer | {"args": [wire.encode(value, refer) for value in args]}


def run(request):
    torch.manual_seed(request["seed"])
    if request["do"] == "cell":
        skip = request.get("skip", ())
        failed = map(error, notebook.failures(request["number"], request["source"], skip, send))
        # The first is told, but before it what is no Python.
        return min(failed, key=lambda it: it["error"][0] != "SyntaxError", default={"answer": None})
    if request["do"] == "ours":  # earlier questions, where the student's would spoil later ones
        space = {}
        exec(request["source"], space)
        names.update({name: space[name] for name in request["names"]})
        return {"answer": None}
    if request["do"] == "get":
        return {"answer": wire.encode(find(request), refer)}
    return call(request)


send({"ready": torch.__version__})
while True:
    message = receive()
    absent.noted.clear()
    try:
        answer = absent.on_cpu(run, message)
        wire.pack(answer)
    except BaseException as problem:
        answer = error(problem)
    send({"number": message["id"], **answer, "noted": sorted(absent.noted)})

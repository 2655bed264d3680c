#!/usr/bin/env python3
"""Runs an emitted host program, and records what its launches compute.

    record.py RECORDS MODEL WEIGHTS INPUTS OUTPUTS

MODEL is the emitted model.py, which runs unchanged. RECORDS gets the results of all launches of the
first run, in order and chip by chip: the number of the launch, that of the chip, the number of words
that its kernels read and the words; then for each result the number of elements, and the elements
row by row. All numbers have 32 bits.
"""

import array
import importlib.util
import struct
import sys

import ttnn


def loaded(path):
    specification = importlib.util.spec_from_file_location("model", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def elements(tensor, chip):
    shard = ttnn.get_device_tensors(ttnn.from_device(tensor))[chip]
    rows = shard.to(ttnn.ROW_MAJOR_LAYOUT).to_list()
    return array.array("f", [element for row in rows for element in row])


def recording(model, records, devices):
    """The host program's class of a model, which also records its launches."""

    class Recording(model):
        runs = 0
        launches = 0

        def __init__(self, *arguments):
            super().__init__(*arguments)
            # What decisions have given the cores of a chip, by chip and word.
            self.decided = {}

        def next(self):
            self.runs += 1
            return super().next()

        def record(self, chip, words, results):
            values = [self.decided.get((chip, word), 0) for word in words]
            records.write(struct.pack(f"<{3 + len(values)}I", self.launches, chip, len(values), *values))
            for result in results:
                each = elements(result, chip)
                records.write(struct.pack("<I", len(each)))
                each.tofile(records)
            records.flush()

        def run(self, result, **step):
            super().run(result=result, **step)
            if self.runs == 1:
                words = step.get("words", ())
                for chip in step.get("chips", range(devices)):
                    if step.get("decides") and all(self.decided.get((chip, gate)) for gate in words[:-1]):
                        # A decision is also the only element of its result.
                        self.decided[chip, words[-1]] = int(elements(result, chip)[0])
                    self.record(chip, words, [result, *step.get("others", ())])
                self.launches += 1

        def exchange(self, members, words=(), **step):
            if words:
                step["words"] = words
            super().exchange(members=members, **step)
            if self.runs == 1:
                for member in members:
                    result = member["result"]
                    self.record(member["chip"], words, [] if result is None else [result])
                self.launches += 1

    return Recording


def main(records, path, *files):
    module = loaded(path)
    with open(records, "wb") as file:
        module.Model = recording(module.Model, file, getattr(module, "CHIPS", 1))
        module.main(*files)


if __name__ == "__main__":
    main(*sys.argv[1:])

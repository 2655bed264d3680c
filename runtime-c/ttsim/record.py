#!/usr/bin/env python3
"""Runs an emitted host program for one chip, and records what its launches compute.

    record.py RECORDS MODEL WEIGHTS INPUTS OUTPUTS

MODEL is the emitted model.py, which runs unchanged. RECORDS gets the results of all launches of the
first run, in order: the number of the launch, that of the chip and of the words that its kernels
read, which are 0 for one chip; then the number of elements of the result, and the elements row by
row.
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


def recording(model, records):
    """The host program's class of a model, which also records its launches."""

    class Recording(model):
        runs = 0
        launches = 0

        def next(self):
            self.runs += 1
            return super().next()

        def run(self, result, **step):
            super().run(result=result, **step)
            if self.runs == 1:
                rows = ttnn.from_device(result).to(ttnn.ROW_MAJOR_LAYOUT).to_list()
                elements = array.array("f", [element for row in rows for element in row])
                records.write(struct.pack("<4I", self.launches, 0, 0, len(elements)))
                elements.tofile(records)
                records.flush()
                self.launches += 1

    return Recording


def main(records, path, *files):
    module = loaded(path)
    with open(records, "wb") as file:
        module.Model = recording(module.Model, file)
        module.main(*files)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Runs programs and prints what they give as JSON: `run.py GROUP [NAME...]`.

A group is a file in `examples` or `libraries` with a dict PROGRAMS of names and functions. Every
program starts from the same seeds. `--record FOLDER` writes the values to FOLDER/GROUP.json
instead; that is done with PyTorch. `--out FILE` writes them there.
"""

import argparse
import importlib.util
import json
import os
import random
import sys
import time
import traceback
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


def load(group):
    """The module of a group."""
    for folder in ("examples", "libraries"):
        path = os.path.join(HERE, folder, group + ".py")
        if os.path.exists(path):
            spec = importlib.util.spec_from_file_location("programs_" + group, path)
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)
            return module
    sys.exit(f"no group {group}")


def main():
    """Run what the command line names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("group")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--record")
    parser.add_argument("--out")
    parser.add_argument("--trace", action="store_true", help="show where programs fail")
    options = parser.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    warnings.simplefilter("ignore")
    import numpy as np
    import torch

    programs = load(options.group).PROGRAMS
    results = {}
    for name, program in programs.items():
        if options.names and name not in options.names:
            continue
        random.seed(0)
        np.random.seed(0)
        torch.manual_seed(0)
        start = time.perf_counter()
        try:
            results[name] = {"values": program()}
        except Exception as error:
            if options.trace:
                traceback.print_exc()
            results[name] = {"error": f"{type(error).__name__}: {error}"}
        results[name]["seconds"] = round(time.perf_counter() - start, 2)
    if options.record:
        for name, result in list(results.items()):
            if "error" in result:
                print(f"not recorded: {name}: {result['error']}", file=sys.stderr)
                del results[name]
            result.pop("seconds")
        path = os.path.join(options.record, options.group + ".json")
        if options.names and os.path.exists(path):
            with open(path) as file:
                results = {**json.load(file), **results}
        with open(path, "w") as file:
            json.dump(results, file, indent=1, sort_keys=True)
            file.write("\n")
    elif options.out:
        with open(options.out, "w") as file:
            json.dump(results, file)
    else:
        json.dump(results, sys.stdout, indent=1)
        print()


if __name__ == "__main__":
    main()

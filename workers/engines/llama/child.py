"""Child: the process that holds one model, and answers on loopback to whoever knows the key.

Run as a file, it imports nothing of the service. Its first line of input has the options. It prints one line, its
address or why it can't load the model, and ends with its input, which is its parent's end as well. It must be killed:
llama.cpp crashes when a process exits in the middle of a request, and hangs after a fork."""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

#: Raised, so that the kernel ends the model before the service when memory runs out.
OOM_SCORE = "500"


def load(options: dict[str, Any]) -> Any:
    """Return a server with its model loaded. Raises RuntimeError."""
    # Threads that wait actively halve the speed where others need the cores: 1.3 tokens/s instead of 8.0.
    os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = options["model"]
    params.mmproj.path = options["projector"] or ""
    params.api_keys = [options["key"]]
    params.n_ctx, params.n_parallel, params.kv_unified = options["context"], options["slots"], True
    # SmolVLM would scale every picture up to 2,048 pixels: 100 CPU seconds instead of 11.
    params.image_max_tokens = options["image_tokens"]
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads, threads.poll = options["threads"], 0
    params.n_gpu_layers, params.mmproj_use_gpu, params.fit_params = 0, False, False
    # 8 GB by default, for prompts of slots that others took over.
    params.cache_ram_mib = 0
    # Weights repacked for the processor take 0.6 GB more, and are no faster.
    params.no_extra_bufts = True
    params.verbosity, params.endpoint_slots, params.ui = -1, False, False
    return xllamacpp.Server(params)


def main() -> None:
    """Load the model that the first line names, and serve until the input ends."""
    options = json.loads(sys.stdin.readline())
    if sys.platform == "linux":
        Path("/proc/self/oom_score_adj").write_text(OOM_SCORE)
    try:
        server = load(options)
        told = {"address": server.listening_address}
    except (RuntimeError, ImportError) as error:
        told = {"fault": str(error)}
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()
    # Nothing reads what native code might print.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if "address" in told:
        sys.stdin.read()
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()

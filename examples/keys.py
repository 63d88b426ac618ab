"""A quota for each API key, asked for over HTTP with nothing but Python's standard library.

node.yaml has `keys: { "key:{id}": { quota: { publish: { messagesPerSecond: 600/min } } } }`; nobody names a key before.
    python3 examples/keys.py 127.0.0.1:7070 127.0.0.1:7071 127.0.0.1:7072
"""

import argparse
import http.client
import json
import random
import time


class Quota:
    """The quota of a cluster, asked for at any of its nodes. One connection each, so one per thread."""

    def __init__(self, nodes):
        self.connections = [http.client.HTTPConnection(node, timeout=10) for node in nodes]

    def acquire(self, key, messages=1, node=None):
        """0 if it was granted, else the seconds after which asking again is worth it."""
        at = random.randrange(len(self.connections)) if node is None else node % len(self.connections)
        status, headers, body = self._post(self.connections[at], {"group": f"key:{key}", "messages": messages})
        if status == 200:
            return 0
        if status in (429, 503):
            return float(headers["retry-after"])
        raise ValueError(f"{status}: {body.decode()}")

    @staticmethod
    def _post(connection, work):
        body, headers = json.dumps(work), {"content-type": "application/json"}
        try:
            connection.request("POST", "/v1/acquire", body, headers)
            answer = connection.getresponse()
        except (http.client.RemoteDisconnected, BrokenPipeError):  # it had been idle; the next one is new
            connection.close()
            connection.request("POST", "/v1/acquire", body, headers)
            answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("nodes", nargs="+", help="host:port")
    parser.add_argument("--name", default="customer", help="what keys begin with")
    parser.add_argument("--hot", type=int, default=4, help="keys that want more than their quota")
    parser.add_argument("--rate", type=float, default=20, help="requests per second of each of them")
    parser.add_argument("--burst", type=int, default=100, help="requests of each at once before that")
    parser.add_argument("--cold", type=int, default=1000, help="keys that are used once")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--sticky", action="store_true", help="each hot key at one node")
    options = parser.parse_args()

    quota = Quota(options.nodes)
    hot = {f"{options.name}-hot-{at}": [] for at in range(options.hot)}
    for at, key in enumerate(hot):
        granted = sum(quota.acquire(key, node=at if options.sticky else None) == 0 for _ in range(options.burst))
        print(f"{key}: {granted} of the first {options.burst} at once")

    start = time.monotonic()
    asked = refused_cold = cold = 0
    while (passed := time.monotonic() - start) < options.seconds:
        while asked < passed * options.rate * options.hot:
            at = asked % options.hot
            key = f"{options.name}-hot-{at}"
            if quota.acquire(key, node=at if options.sticky else None) == 0:
                hot[key].append(time.monotonic() - start)
            asked += 1
        while cold < options.cold * passed / options.seconds:
            refused_cold += quota.acquire(f"{options.name}-cold-{cold}") != 0
            cold += 1
        time.sleep(0.01)

    print(f"keys used once: {cold - refused_cold} of {cold} granted")
    for key, times in hot.items():
        last = [at for at in times if at >= options.seconds - 10]
        print(f"{key}: {len(last)} granted in the last 10 s")


if __name__ == "__main__":
    main()

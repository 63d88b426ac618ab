"""A toy proxy that limits by itself: python3 proxy.py NAME NODE-URL GROUP WISH-PER-SECOND SECONDS"""
import json, sys, threading, time, urllib.request

name, url, group, wish, seconds = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]), float(sys.argv[5])
life, lock, wake = int(time.time() * 1000), threading.Lock(), threading.Event()
admitted, held_back, rate, depth, tokens, filled, valid_until = 0, False, 0.0, 1.0, 0.0, time.monotonic(), 0.0

def admit():                                       # the proxy asks this for every request
    global admitted, held_back, tokens, filled
    with lock:
        now = time.monotonic()
        tokens, filled = min(depth, tokens + rate * (now - filled)), now
        if now > valid_until or tokens < 1:        # a part that has ended admits nothing
            held_back = True
            return False
        tokens, admitted = tokens - 1, admitted + 1
        return True

def report():                                      # tells and is told, about ten times a second
    global held_back, rate, depth, tokens, filled, valid_until
    while True:
        with lock:
            told = {"group": group, "admitted": {"messages": admitted}, "heldBack": held_back}
            held_back = False
        body, sent = {"enforcer": name, "life": life, "ttlMs": 3000, "groups": [told]}, time.monotonic()
        try:
            request = urllib.request.Request(url + "/v1/enforce", json.dumps(body).encode(), {"content-type": "application/json"})
            answer = json.load(urllib.request.urlopen(request, timeout=2))
            part = answer["groups"][0]
            if part["status"] == 200:
                with lock:                         # a new limit mints nothing: what accrued so far came at the old rate
                    now = time.monotonic()
                    tokens, filled = tokens + rate * (now - filled), now
                    rate, depth = (1e9 if part[key] is None else part[key] for key in ("messagesPerSecond", "messagesDepth"))
                    tokens, valid_until = min(tokens, depth), sent + answer["validMs"] / 1000
        except OSError as error:                   # the old part lasts until valid_until
            print(name, error, file=sys.stderr)
        time.sleep(0.1)

threading.Thread(target=report, daemon=True).start()
began = time.monotonic()
arrived = 0
while (passed := time.monotonic() - began) < seconds:
    while arrived < wish * passed:
        arrived += 1
        admit()
    time.sleep(0.002)
print(f"{name}: admitted {admitted} of {arrived}")

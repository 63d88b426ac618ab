"""A toy proxy that limits by itself: python3 proxy.py NAME NODE-URL GROUP WISH-PER-SECOND SECONDS"""
import json, sys, threading, time, urllib.request

name, url, group, wish, seconds = *sys.argv[1:4], float(sys.argv[4]), float(sys.argv[5])
life, lock, began = int(time.time() * 1000), threading.Lock(), time.monotonic()
admitted, held_back, rate, depth, tokens, filled, valid_until = 0, False, 0.0, 1.0, 0.0, began, 0.0

def fill():                                   # a new limit mints nothing: what accrued so far came at the old one
    global tokens, filled
    now = time.monotonic()
    tokens, filled = min(depth, tokens + rate * (now - filled)), now
    return now

def admit():                                  # asked for every request
    global admitted, held_back, tokens
    with lock:
        if fill() > valid_until or tokens < 1:    # a part that has ended admits nothing
            held_back = True
        else:
            tokens, admitted = tokens - 1, admitted + 1

def report():                                 # tells what was admitted, and is told what to admit
    global held_back, rate, depth, tokens, valid_until
    with lock:
        told, held_back, sent = {"group": group, "admitted": {"messages": admitted}, "heldBack": held_back}, False, fill()
    body = json.dumps({"enforcer": name, "life": life, "ttlMs": 3000, "groups": [told]}).encode()
    request = urllib.request.Request(url + "/v1/enforce", body, {"content-type": "application/json"})
    answer = json.load(urllib.request.urlopen(request, timeout=2))
    part = answer["groups"][0]
    if part["status"] == 200:
        with lock:
            fill()
            rate, depth = (1e9 if part[key] is None else part[key] for key in ("messagesPerSecond", "messagesDepth"))
            tokens, valid_until = min(tokens, depth), sent + answer["validMs"] / 1000

def report_often():
    while True:
        try:
            report()
        except OSError as error:              # the old part lasts until valid_until
            print(name, error, file=sys.stderr)
        time.sleep(0.1)

threading.Thread(target=report_often, daemon=True).start()
arrived = 0
while (passed := time.monotonic() - began) < seconds:
    for arrived in range(arrived + 1, int(wish * passed) + 1):
        admit()
    time.sleep(0.002)
print(f"{name}: admitted {admitted} of {arrived}")

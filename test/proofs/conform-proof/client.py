"""A client under test: `python3 client.py urllib|requests|retry|retry-all|loop`."""
import json, os, sys, time, urllib.request

BASE, KEY, JOB = (os.environ["PETSTORE_" + name] for name in ("BASE_URL", "API_KEY", "JOB"))
HEADERS = {"Authorization": "Bearer " + KEY, "Content-Type": "application/json"}
HOW = sys.argv[1]

if HOW != "urllib":
    import requests
    from requests.adapters import HTTPAdapter
    from urllib3.util import Retry

    session = requests.Session()
    if HOW.startswith("retry"):
        methods = {"allowed_methods": None} if HOW == "retry-all" else {}
        retry = Retry(total=3, backoff_factor=0.5, status_forcelist=[429, 500, 502, 503, 504], **methods)
        session.mount("http://", HTTPAdapter(max_retries=retry))


def once(method, path, body):
    if HOW == "urllib":
        request = urllib.request.Request(BASE + path, body, HEADERS, method=method)
        with urllib.request.urlopen(request, timeout=8) as response:
            return json.loads(response.read())
    response = session.request(method, BASE + path, data=body, headers=HEADERS, timeout=8)
    response.raise_for_status()
    return response.json()


def send(method, path, body=None):
    for left in range(3 if HOW == "loop" else 0, -1, -1):
        try:
            return once(method, path, body)
        except Exception:
            if left == 0:
                raise
            time.sleep(1)


pet = send("GET", "/pets")[0] if JOB == "read" else send("POST", "/pets", b'{"name":"Rex","categoryId":1}')
send("GET", f"/pets/{pet['id']}")

import json
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

SLOT = {"room_id": 1, "starts_at": "2026-05-01T10:00:00Z", "ends_at": "2026-05-01T11:00:00Z"}


class Client:
    """The client under test."""

    def __init__(self, base_url):
        self.base_url = base_url
        self.headers = {}

    def send(self, method, path, body=None, headers={}):
        data = None if body is None else json.dumps(body).encode()
        request = Request(self.base_url + path, data, {"Content-Type": "application/json", **self.headers, **headers}, method=method)
        try:
            with urlopen(request) as response:
                return response.status, json.load(response)
        except HTTPError as error:
            return error.code, json.loads(error.read() or "null")

    def log_in(self):
        form = urlencode({"username": "ada@example.com", "password": "secret-password"}).encode()
        with urlopen(Request(self.base_url + "/token", form)) as response:
            self.headers = {"Authorization": f"Bearer {json.load(response)['access_token']}"}
        return self


def test_needs_a_login(sandbox):
    client = Client(sandbox.base_url)
    assert client.send("GET", "/bookings/")[0] == 401
    assert client.log_in().send("GET", "/bookings/") == (200, [])


def test_books(sandbox):
    client = Client(sandbox.base_url).log_in()
    status, booking = client.send("POST", "/bookings/", SLOT)
    assert (status, booking["id"], booking["status"]) == (201, 1, "pending")
    assert client.send("GET", "/bookings/1") == (200, booking)


def test_lists_each_problem(sandbox):
    status, error = Client(sandbox.base_url).log_in().send("POST", "/bookings/", {"room_id": "x", "ends_at": SLOT["ends_at"]})
    assert status == 422
    assert sorted(problem["loc"] for problem in error["detail"]) == [["body", "room_id"], ["body", "starts_at"]]


def test_books_once_for_a_key(sandbox):
    client = Client(sandbox.base_url).log_in()
    sent = [client.send("POST", "/bookings/", SLOT, {"Idempotency-Key": "first"}) for _ in range(2)]
    assert sent[0] == sent[1]
    assert len(client.send("GET", "/bookings/")[1]) == 1


def test_is_told_that_its_token_has_expired(sandbox):
    client = Client(sandbox.base_url).log_in()
    sandbox.control("DELETE", "/logins")
    assert client.send("GET", "/bookings/")[0] == 401

"""One client for each transport and policy: `python3 client.py <transport> <policy>`."""
import http.client, os, socket, sys, time, urllib.error, urllib.request
from urllib.parse import urlsplit

KEY = os.environ['PETSTORE_API_KEY']
PETS = os.environ['PETSTORE_BASE_URL'] + '/pets'
HEADERS = {'Authorization': 'Bearer ' + KEY}
TIMEOUT = int(os.environ.get('CLIENT_TIMEOUT_MS', '10000')) / 1000
ADDRESS = urlsplit(PETS)


def over_requests():
    import requests
    return lambda: read(requests.get(PETS, headers=HEADERS, timeout=TIMEOUT))


def over_session():
    import requests
    session = requests.Session()
    return lambda: read(session.get(PETS, headers=HEADERS, timeout=TIMEOUT))


def over_urllib3():
    import urllib3
    pool = urllib3.PoolManager(retries=False, timeout=TIMEOUT)
    return lambda: read(pool.request('GET', PETS, headers=HEADERS))


def over_urllib():
    def once():
        try:
            with urllib.request.urlopen(urllib.request.Request(PETS, headers=HEADERS), timeout=TIMEOUT) as response:
                response.read()
                return response.status, None
        except urllib.error.HTTPError as error:
            error.read()
            return error.code, error.headers.get('retry-after')
    return once


def over_http_client(keeps=True):
    connection = None

    def once():
        nonlocal connection
        if connection is None or not keeps:
            connection = http.client.HTTPConnection(ADDRESS.hostname, ADDRESS.port, timeout=TIMEOUT)
        try:
            connection.request('GET', ADDRESS.path, headers=HEADERS)
            response = connection.getresponse()
            response.read()
            return response.status, response.headers.get('retry-after')
        except Exception:
            connection.close()
            connection = None
            raise
    return once


def raw():
    return socket.create_connection((ADDRESS.hostname, ADDRESS.port), timeout=TIMEOUT)


def line(extra=''):
    return ('GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n%s\r\n' % (ADDRESS.path, KEY, extra)).encode()


def over_half_closed():
    """Closes its half after the request, and reads on."""
    def once():
        with raw() as connection:
            connection.sendall(line())
            connection.shutdown(socket.SHUT_WR)
            return read_raw(connection)
    return once


def read_raw(connection):
    text = b''
    while True:
        piece = connection.recv(65536)
        if not piece:
            break
        text += piece
        head, found, body = text.partition(b'\r\n\r\n')
        if found and len(body) >= int(header(head, b'content-length') or 0):
            break
    return int(text.split(b' ')[1]), (header(text, b'retry-after') or b'').decode() or None


def header(head, name):
    for each in head.split(b'\r\n'):
        if each.lower().startswith(name + b':'):
            return each.split(b':', 1)[1].strip()


def read(response):
    return getattr(response, 'status_code', None) or response.status, response.headers.get('retry-after')


def pipelined(policy):
    """Three in one write; after the wait three more."""
    with raw() as connection:
        for turn in (1, 2):
            connection.sendall(line('x-turn: %d\r\n' % turn) * 3)
            time.sleep(3.3 if policy == 'polite' else 0.05)


def never_reads(_policy):
    """Sends on, and looks at nothing that comes."""
    with raw() as connection:
        for _ in range(5):
            connection.sendall(line())
            time.sleep(0.03)


def urllib3_retry(policy):
    import requests
    from requests.adapters import HTTPAdapter
    from urllib3.util import Retry
    retry = Retry(total=4, backoff_factor=0.1, status_forcelist=(429, 503), raise_on_status=False,
                  respect_retry_after_header=policy != 'deaf')
    session = requests.Session()
    session.mount('http://', HTTPAdapter(max_retries=retry))
    for _ in range(2 if policy == 'twice' else 1):
        try:
            session.get(PETS, headers=HEADERS, timeout=TIMEOUT)
        except requests.RequestException:
            pass


def series(once, policy):
    for attempt in range({'rude': 6, 'one': 1}.get(policy, 4)):
        try:
            status, told = once()
        except Exception:
            status, told = 0, None
        if 200 <= status < 400:
            return
        if policy == 'polite':
            time.sleep(float(told) if told else 0.1 * 2 ** attempt)
        elif policy == 'half':
            time.sleep(float(told) / 2 if told else 0.1 * 2 ** attempt)


TRANSPORTS = {
    'requests': over_requests, 'session': over_session, 'urllib3': over_urllib3,
    'urllib': over_urllib, 'http.client': over_http_client, 'http.client-new': lambda: over_http_client(False),
    'half-closed': over_half_closed,
}
WHOLE = {'pipelined': pipelined, 'never-reads': never_reads, 'urllib3-retry': urllib3_retry}

name, how = sys.argv[1:]
if name in WHOLE:
    WHOLE[name](how)
else:
    series(TRANSPORTS[name](), how)

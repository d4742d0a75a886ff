// The least that answers: node:http, sending fixed responses. A POST's body is read first, as it must be.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [port, file] = process.argv.slice(2)
const { listPets, getPet, createPet } = JSON.parse(readFileSync(file, 'utf8'))

const server = createServer({ keepAliveTimeout: 360_000 }, (request, response) => {
  response.sendDate = false
  if (request.method === 'POST') {
    request.on('data', () => {})
    request.on('end', () => send(response, createPet))
  } else send(response, request.url === '/v1/pets' ? listPets : getPet)
})

function send(response, { status, headers, body }) {
  response.writeHead(status, headers)
  response.end(body)
}

server.listen(Number(port), '127.0.0.1')

// The least that a terminal needs to see a list of pets.
const [url] = process.argv.slice(2)
const response = await fetch(url, { headers: { authorization: 'Bearer sandbox' } })
process.stdout.write(await response.text())

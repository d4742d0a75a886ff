import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { exactText, Ledger, listed, UNLIMITED } from '../ledger.js'
import type { Experiment, Trial } from '../trial.js'

const FOLDER = '.petstore-sandbox'
const FILES = ['store.json', 'store.json.journal'] as const

/** What the store held when it was killed, as exact texts: the document's pets, then one for each line of the journal. */
interface Truth {
  readonly folder: string
  readonly inDocument: readonly string[]
  readonly inJournal: readonly string[]
}

interface Damage {
  readonly file: (typeof FILES)[number]
  readonly how: string
  readonly bytes: Buffer
  /** Lines of the journal that are whole after it. */
  readonly lines: number
  /** Whether a part of a line is left at the journal's end. */
  readonly isTorn: boolean
  readonly isCut: boolean
}

/**
 * The document or the journal of a killed sandbox, cut off anywhere, with one
 * bit flipped (the last line feed now and then), or a line of the journal
 * missing, doubled or swapped with the next: each time all pets as they were, or a refusal that names the file
 * and leaves it as it is.
 *
 * Two kinds of damage look like allowed changes, and are counted apart: a
 * document that is still right JSON (it may be edited by hand), and a journal
 * without its last lines (that is how a crash in the middle of a write looks).
 */
export const damagedStore: Experiment = {
  counts: 'damaged stores',
  async run(trial) {
    const truth = await killedStore(trial)
    const outcomes = { whole: 0, refused: 0, torn: 0, ended: 0, edited: 0 }
    const cases = trial.size(90, 6)
    for (let i = 0; i < cases; i++) {
      const damage = i % 3 === 2 ? damageToLines(trial, truth, i) : damageOf(trial, truth, i)
      const lostBefore = trial.lost
      const outcome = await startWith(trial, truth, damage)
      outcomes[outcome]++
      if (trial.lost === lostBefore) trial.survive()
    }
    trial.note(`${outcomes.whole} whole, ${outcomes.refused} refused, ${outcomes.torn} with a warning for the cut end`)
    trial.note(
      `undetectable by design: ${outcomes.edited} like an edit by hand, ${outcomes.ended} cut off between two lines`,
    )
  },
}

async function killedStore(trial: Trial): Promise<Truth> {
  const folder = trial.folder()
  const ledger = new Ledger()
  const add = async (count: number) => {
    const server = await trial.serve(folder, UNLIMITED)
    let left = count
    await ledger.write(server, () => left-- === 0)
    return server
  }
  await (await add(100)).stop()
  const server = await add(0)
  const inDocument = (await listed(server)).map(exactText)
  let left = 40
  await ledger.write(server, () => left-- === 0)
  const inJournal = [...ledger.acknowledged.values()].slice(100)
  await server.kill()
  return { folder, inDocument, inJournal }
}

function damageOf(trial: Trial, { folder }: Truth, index: number): Damage {
  const file = FILES[index % 2] as (typeof FILES)[number]
  const whole = readFileSync(join(folder, FOLDER, file))
  const at = trial.integer(0, whole.length)
  if (index % 4 < 2) {
    const bytes = whole.subarray(0, at)
    return { file, how: `cut off after byte ${at}`, bytes, isCut: true, ...linesOf(bytes, whole) }
  }
  const bit = trial.integer(0, 8)
  const bytes = Buffer.from(whole)
  bytes[at] = (bytes[at] ?? 0) ^ (1 << bit)
  return { file, how: `bit ${bit} of byte ${at} flipped`, bytes, isCut: false, ...linesOf(bytes, whole) }
}

/** What no cut leaves behind: it must be refused. */
function damageToLines(trial: Trial, { folder }: Truth, index: number): Damage {
  const file = 'store.json.journal'
  const whole = readFileSync(join(folder, FOLDER, file))
  const lines = whole.toString('latin1').match(/.*\n/g) ?? []
  // The last line stays: without it the journal would only end earlier.
  const at = trial.integer(0, lines.length - 1)
  const line = lines[at] ?? ''
  const [how, changed] = [
    [`without line ${at + 1}`, lines.toSpliced(at, 1)],
    [`with line ${at + 1} doubled`, lines.toSpliced(at, 0, line)],
    [`with line ${at + 1} after the next`, lines.toSpliced(at, 2, lines[at + 1] ?? '', line)],
    ['with its last line feed flipped', [...lines.slice(0, -1), `${lines.at(-1)?.slice(0, -1)}\v`]],
  ][Math.floor(index / 3) % 4] as [string, string[]]
  return { file, how, bytes: Buffer.from(changed.join(''), 'latin1'), lines: -1, isTorn: false, isCut: false }
}

function linesOf(bytes: Buffer, whole: Buffer): { readonly lines: number; readonly isTorn: boolean } {
  const feeds = bytes.filter((byte) => byte === 10).length
  // All of a line but its feed is a whole line. The first is the head.
  const isOpenLine = whole[bytes.length] === 10
  const isTorn = bytes.length > 0 && bytes.at(-1) !== 10 && !isOpenLine
  return { lines: Math.max(0, feeds + (isOpenLine ? 1 : 0) - 1), isTorn }
}

async function startWith(
  trial: Trial,
  truth: Truth,
  damage: Damage,
): Promise<'whole' | 'refused' | 'torn' | 'ended' | 'edited'> {
  const { file, how, bytes } = damage
  const folder = trial.folder()
  mkdirSync(join(folder, FOLDER))
  for (const name of FILES) cpSync(join(truth.folder, FOLDER, name), join(folder, FOLDER, name))
  const damaged = join(folder, FOLDER, file)
  writeFileSync(damaged, bytes)
  const server = trial.begin(folder, UNLIMITED)
  const isReady = await server.ready.then(
    () => true,
    () => false,
  )
  const what = `${file} ${how}`
  if (!isReady) {
    const { code, signal } = await server.end()
    const [first = ''] = server.lines
    if (code !== 1) trial.lose(`${what}: it ended with ${code ?? signal}: ${server.said}`)
    else if (!first.includes(file) || server.lines.length > 1)
      trial.lose(`${what}: not clearly refused: ${server.said}`)
    else if (!readFileSync(damaged).equals(bytes)) trial.lose(`${what}: it was refused, and changed`)
    rmSync(folder, { recursive: true })
    return 'refused'
  }
  const present = (await listed(server)).map(exactText)
  const { said } = server
  if (damage.lines === -1) trial.lose(`${what}: not detected`)
  await server.stop()
  rmSync(folder, { recursive: true })
  if (isSame(present, [...truth.inDocument, ...truth.inJournal])) return 'whole'
  if (file === 'store.json') {
    const all = [...truth.inDocument, ...truth.inJournal]
    const gone = all.filter((text) => !present.includes(text)).length
    if (damage.isCut || gone > 1 || present.length !== all.length) trial.lose(`${what}: ${gone} pets are gone`)
    return 'edited'
  }
  const left = [...truth.inDocument, ...truth.inJournal.slice(0, damage.lines)]
  if (!isSame(present, left)) trial.lose(`${what}: there are wrong pets`)
  else if (damage.isTorn && !said.includes('was cut short')) trial.lose(`${what}: no warning`)
  return damage.isTorn ? 'torn' : 'ended'
}

function isSame(present: readonly string[], expected: readonly string[]): boolean {
  const there = new Set(present)
  return there.size === expected.length && expected.every((text) => there.has(text))
}

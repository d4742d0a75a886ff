import { files, version } from './generated/embedded.js'

export const packageVersion: string = version

/** Only what every sandbox may need is in the bundle. Scenarios are in it as JSON. */
export function packageText(file: string): string {
  const text = files[file]
  if (text === undefined) throw new RangeError(`${file} is not part of what a browser gets.`)
  return text
}

const SCENARIO = /^fixtures\/scenarios\/(.+)\.yaml$/

export function packagedScenarios(): readonly string[] {
  return Object.keys(files).flatMap((file) => SCENARIO.exec(file)?.[1] ?? [])
}

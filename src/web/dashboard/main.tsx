import { render } from 'preact'
import './style.css'

function Dashboard() {
  return <h1>petstore-sandbox</h1>
}

const root = document.querySelector('#dashboard')
if (root !== null) render(<Dashboard />, root)

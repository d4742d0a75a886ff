import './style.css'

document.title = 'petstore-sandbox: the interface'

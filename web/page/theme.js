// Before anything is painted: the colours that the person chose.
document.documentElement.dataset.theme = localStorage.getItem('conclave-theme') || 'auto';

ella pinta un barco nuevo .
ella repara la isla pequeña .
hay una isla aquí .
ella ve el barco pequeño .
una puerta está cerca del puente nuevo .
la puerta es nueva .
la casa pequeña está cerca de la casa nueva .
el capitán rojo pinta el puente rojo .
hay un puente blanco aquí .
la isla blanca está cerca del transbordador .
la lámpara está cerca del barco .
el capitán pequeño vende una puerta .
una casa está enfrente del puerto viejo .
la isla es blanca .
el capitán compra la casa .
el capitán blanco repara el transbordador viejo .
él pinta un puente blanco .
un barco pequeño está detrás del barco viejo .
ella ve el puerto blanco .
la casa pequeña está enfrente de la isla blanca .
